use super::*;
use std::io::Cursor;
#[test]
#[ignore]
fn corpus() {
    let dir = std::env::var("CORPUS").unwrap();
    let mut out = serde_json::Map::new();
    let mut names: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    names.sort();
    for p in names {
        let name = p.file_name().unwrap().to_str().unwrap().to_owned();
        if !(name.contains(".ppt") || name.contains(".pot")) {
            continue;
        }
        let bytes = std::fs::read(&p).unwrap();
        let t = std::time::Instant::now();
        let r = read_deck(Cursor::new(bytes), true);
        let ms = t.elapsed().as_millis();
        let v = match r {
            Ok(d) => serde_json::json!({"ok": serde_json::to_value(d).unwrap(), "ms": ms as u64}),
            Err(e) => match tool::Error::from(e) {
                tool::Error::Tool(f) => {
                    serde_json::json!({"error": f.code, "message": f.message, "hint": f.hint, "ms": ms as u64})
                }
                _ => serde_json::json!({"error":"host"}),
            },
        };
        out.insert(name, v);
    }
    std::fs::write(
        std::env::var("OUT").unwrap(),
        serde_json::to_string(&out).unwrap(),
    )
    .unwrap();
}
