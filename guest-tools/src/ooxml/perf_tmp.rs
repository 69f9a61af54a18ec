use super::*;
#[test]
#[ignore]
fn perf() {
    for f in ["hostile_office/xml_million_paragraphs.pptx","hostile_office/rels_200k.pptx","office/pptx/officeparser__test.pptx"] {
        let bytes = std::fs::read(format!("/work/shared/corpus/{f}")).unwrap();
        for _ in 0..3 {
        let t = std::time::Instant::now();
        let d = read_deck(std::io::Cursor::new(&bytes), true).unwrap();
        println!("{f} {} {:?}", d.slides.len(), t.elapsed());
        }
    }
}
