//! The manifest of a WebAssembly artifact.

use serde::Deserialize;

use super::problem::Problem;
use super::reference::Digest;

/// What registries take for a manifest is 4 MiB; that of an artifact with one layer has a few
/// kilobytes.
pub(super) const MOST_BYTES: u64 = 1 << 20;
/// Larger than any tool.
const MOST_COMPONENT_BYTES: u64 = 256 << 20;

/// What is asked for; an index, from which one would have to be chosen, is not.
pub(super) const MEDIA_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";
/// The layer of the CNCF's layout for WebAssembly artifacts, and the one that older tools push.
const LAYERS: [&str; 2] = [
    "application/wasm",
    "application/vnd.wasm.content.layer.v1+wasm",
];

#[derive(Deserialize)]
struct Manifest {
    #[serde(rename = "mediaType")]
    media_type: Option<String>,
    layers: Option<Vec<Descriptor>>,
}

#[derive(Deserialize)]
struct Descriptor {
    #[serde(rename = "mediaType")]
    media_type: String,
    digest: String,
    size: u64,
}

/// Where the component is, and how large.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) digest: Digest,
    pub(super) size: u64,
}

impl Layer {
    /// The one layer of a manifest.
    ///
    /// # Errors
    /// `unsupported-document` when it is no manifest of a component; `limit-exceeded` when that
    /// is too large.
    pub(super) fn of(manifest: &[u8]) -> Result<Self, Problem> {
        let manifest: Manifest = serde_json::from_slice(manifest)
            .map_err(|error| Problem::no_component(format!("the manifest is none: {error}")))?;
        if manifest
            .media_type
            .as_deref()
            .is_some_and(|kind| kind != MEDIA_TYPE)
        {
            return Err(Problem::no_component(
                "the reference leads to an index or another kind of manifest",
            ));
        }
        let layers = manifest.layers.unwrap_or_default();
        let [layer] = &*layers else {
            return Err(Problem::no_component(format!(
                "the manifest has {} layers",
                layers.len()
            )));
        };
        if !LAYERS.contains(&&*layer.media_type) {
            let kind = layer.media_type.escape_debug();
            return Err(Problem::no_component(format!("the layer is `{kind}`")));
        }
        if layer.size > MOST_COMPONENT_BYTES {
            return Err(Problem::too_large("component", MOST_COMPONENT_BYTES));
        }
        let digest = Digest::parse(&layer.digest)
            .map_err(|error| Problem::no_component(format!("in the manifest {error}")))?;
        Ok(Self {
            digest,
            size: layer.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn layer(kind: &str, size: u64) -> Value {
        json!({ "mediaType": kind, "digest": Digest::of(b"").to_string(), "size": size })
    }

    #[test]
    fn one_layer_of_wasm_is_a_component() {
        let manifest = json!({ "layers": [layer("application/wasm", 12)] });
        assert_eq!(Layer::of(manifest.to_string().as_bytes()).unwrap().size, 12);
    }

    #[test]
    fn everything_else_is_not() {
        let wasm = || layer("application/wasm", 12);
        for manifest in [
            json!([]),
            json!({}),
            json!({ "layers": [] }),
            json!({ "layers": [wasm(), wasm()] }),
            json!({ "layers": [layer("application/x-tar", 12)] }),
            json!({ "layers": [layer("application/wasm", u64::MAX)] }),
            json!({ "mediaType": "application/vnd.oci.image.index.v1+json", "layers": [wasm()] }),
            json!({ "layers": [{ "mediaType": "application/wasm", "digest": "md5:0", "size": 1 }] }),
            json!({ "layers": [{ "mediaType": "application/wasm", "size": -1 }] }),
        ] {
            assert!(
                Layer::of(manifest.to_string().as_bytes()).is_err(),
                "{manifest}"
            );
        }
    }
}
