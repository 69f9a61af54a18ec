//! What `protect_secrets` denies.

/// What [`protect_secrets`](crate::SessionBuilder::protect_secrets) denies: files that hold
/// credentials by convention, and files by which a tool could have git run something.
pub const SECRETS: [&str; 47] = [
    // Environments of programs, with direnv's.
    ".env*",
    // Keys and certificates.
    ".ssh",
    ".gnupg",
    "id_*",
    "*.pem",
    "*.key",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    // What git runs, and what it keeps passwords in.
    "**/.git/hooks",
    "**/.git/config",
    "**/.git/config.worktree",
    "**/.git/modules/**/hooks",
    "**/.git/modules/**/config",
    ".git-credentials",
    "**/.config/git/credentials",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".kube",
    "**/.config/gcloud",
    ".boto",
    "application_default_credentials.json",
    "service-account*.json",
    "**/.oci/config",
    "**/.terraform.d/credentials.tfrc.json",
    ".terraformrc",
    "*.tfstate",
    "*.tfstate.backup",
    ".vault-token",
    // Registries and hosting.
    "**/.docker/config.json",
    ".dockercfg",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    "**/.cargo/credentials*",
    "**/.gem/credentials",
    "**/.m2/settings.xml",
    "**/.config/gh/hosts.yml",
    "**/.config/glab-cli/config.yml",
    // Logins and databases.
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
];
