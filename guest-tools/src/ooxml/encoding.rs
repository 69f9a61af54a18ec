//! The text of an XML part: UTF-8 or UTF-16, which are what OPC allows (ECMA-376 part 2, 8.1.4).

/// Decodes a part.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, String> {
    match bytes.as_slice() {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Err(not_allowed("utf-32")),
        [0xff, 0xfe, rest @ ..] => utf_16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf_16(rest, u16::from_be_bytes),
        [b'<', 0, ..] => utf_16(&bytes, u16::from_le_bytes),
        [0, b'<', ..] => utf_16(&bytes, u16::from_be_bytes),
        _ => utf_8(bytes),
    }
}

fn utf_8(mut bytes: Vec<u8>) -> Result<String, String> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    if let Some(encoding) = declared(&bytes) {
        return Err(not_allowed(&encoding));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        format!("byte {offset} is not UTF-8")
    })
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: Result<String, _> = char::decode_utf16(units).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(text),
        _ => Err("it is not valid UTF-16".to_owned()),
    }
}

/// The encoding that the XML declaration names, if it is none that reads as UTF-8.
fn declared(bytes: &[u8]) -> Option<String> {
    let declaration = bytes.strip_prefix(b"<?xml")?;
    let end = declaration.windows(2).position(|window| window == b"?>")?;
    let declaration = str::from_utf8(&declaration[..end]).ok()?;
    let value = declaration.split_once("encoding")?.1.trim_start();
    let value = value.strip_prefix('=')?.trim_start();
    let quote = value
        .chars()
        .next()
        .filter(|quote| matches!(quote, '"' | '\''))?;
    let name = value[1..].split(quote).next()?.to_ascii_lowercase();
    // UTF-16 in the declaration of a part that is not is a common slip; ASCII is UTF-8.
    let reads_as_utf_8 = matches!(
        name.as_str(),
        "utf-8" | "utf8" | "utf-16" | "us-ascii" | "ascii"
    );
    (!reads_as_utf_8).then_some(name)
}

fn not_allowed(encoding: &str) -> String {
    format!("the encoding `{encoding}` is not allowed in an Office document")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16_bytes(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn what_opc_allows_is_decoded() {
        let text = "<a>Grüße 世界 🙂</a>";
        let marked = format!("\u{feff}{text}");
        for bytes in [
            text.as_bytes().to_vec(),
            marked.as_bytes().to_vec(),
            utf_16_bytes(&marked, u16::to_le_bytes),
            utf_16_bytes(&marked, u16::to_be_bytes),
            utf_16_bytes(text, u16::to_le_bytes),
        ] {
            assert_eq!(decode(bytes).as_deref(), Ok(text));
        }
    }

    #[test]
    fn other_encodings_are_named() {
        for (declaration, encoding) in [
            ("<?xml version='1.0' encoding='UTF-7'?>", "utf-7"),
            (
                "<?xml version=\"1.0\" encoding = \"ISO-8859-1\"?>",
                "iso-8859-1",
            ),
        ] {
            let problem = decode(declaration.into()).unwrap_err();
            assert!(problem.contains(&format!("`{encoding}`")), "{problem}");
        }
        assert!(decode(b"<?xml version='1.0' encoding='UTF-8'?>".to_vec()).is_ok());
        assert!(decode(b"\xff\xfe\0\0<\0\0\0".to_vec()).is_err());
    }

    #[test]
    fn bytes_that_are_neither_are_refused() {
        assert_eq!(
            decode(b"<a>\xc0\xaf".to_vec()),
            Err("byte 3 is not UTF-8".to_owned())
        );
        assert!(decode(b"\xff\xfe<\0\0\xd8".to_vec()).is_err());
        assert!(decode(b"\xff\xfe<".to_vec()).is_err());
        assert_eq!(decode(Vec::new()).as_deref(), Ok(""));
    }
}
