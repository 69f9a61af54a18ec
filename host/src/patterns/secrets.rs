//! What `protect_secrets` denies.

/// What [`protect_secrets`](crate::SessionBuilder::protect_secrets) denies: files that hold
/// credentials by convention, and files by which a tool could have git run something.
pub const SECRETS: [&str; 65] = [
    // Environments of programs, with direnv's.
    ".env*",
    "*.env",
    // Keys and certificates.
    ".ssh",
    ".gnupg",
    "id_*",
    "*.pem",
    "*.pem~",
    "*.pem.bak",
    "*.key",
    "*.key~",
    "*.key.bak",
    "*.ppk",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    ".password-store",
    // What git runs, where it finds that, and what it keeps passwords in; Mercurial's.
    "**/.git/hooks",
    "**/.git/config",
    "**/.git/modules/**/hooks",
    "**/.git/modules/**/config",
    "**/.git/**/config.worktree",
    "**/.git/**/commondir",
    "**/.git/**/gitdir",
    ".gitconfig",
    ".git-credentials",
    "**/.config/git/config",
    "**/.config/git/credentials",
    "**/.hg/hgrc",
    ".hgrc",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".kube",
    "kubeconfig",
    "**/.config/gcloud",
    ".boto",
    "application_default_credentials.json",
    "service-account*.json",
    "**/.oci/config",
    "**/.terraform.d/credentials.tfrc.json",
    ".terraformrc",
    "*.tfstate",
    "*.tfstate.backup",
    "*.tfvars",
    "*.tfvars.json",
    ".s3cfg",
    "**/.config/rclone",
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
    ".mylogin.cnf",
    ".htpasswd",
];

/// What is denied with them unless it is a directory: as a file, `.git` says where git finds its
/// directory, and so its configuration.
pub(super) const SECRET_FILES: [&str; 1] = [".git"];
