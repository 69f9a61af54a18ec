#!/usr/bin/env python3
"""Makes the packages of this folder, and their MANIFEST.tsv, into the working directory."""

import struct
import zipfile
import zlib

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
W = f'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="{OFFICE}" xmlns:v="urn:schemas-microsoft-com:vml"'
S = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE}"'

rows = []


def links(entries):
    inside = "".join(
        f'<Relationship Id="{i}" Type="{OFFICE}/{kind}" Target="{target}"/>' for i, kind, target in entries
    )
    return f'<Relationships xmlns="{PACKAGE}">{inside}</Relationships>'


def write(name, what, expected, text, parts):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            # The same bytes every time.
            archive.writestr(zipfile.ZipInfo(part), content, zipfile.ZIP_DEFLATED)
    rows.append((name, what, expected, text))


def word(name, what, expected, text, body, prolog="", **more):
    known = {"styles": "s.xml", "numbering": "n.xml", "footnotes": "f.xml"}
    parts = {
        "_rels/.rels": links([("m", "officeDocument", "d.xml")]),
        "d.xml": f"{prolog}<w:document {W}><w:body>{body}</w:body></w:document>",
        "_rels/d.xml.rels": links([(k, k, known[k]) for k in more]),
    }
    parts |= {known[k]: content for k, content in more.items() if content}
    write(name, what, expected, text, parts)


def sheet(name, what, expected, text, data, strings="<si><t>shared</t></si>", prolog="", after=""):
    book = f'<workbook {S}><sheets><sheet name="One" r:id="a"/></sheets></workbook>'
    write(name, what, expected, text, {
        "_rels/.rels": links([("m", "officeDocument", "b.xml")]),
        "b.xml": book,
        "_rels/b.xml.rels": links([("a", "worksheet", "1.xml"), ("s", "sharedStrings", "s.xml")]),
        "s.xml": f"<sst {S}>{strings}</sst>",
        "1.xml": f"{prolog}<worksheet {S}><sheetData>{data}</sheetData>{after}</worksheet>",
    })


def paragraph(text, properties=""):
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def nested(depth, open_tags, close_tags, inside):
    return open_tags * depth + inside + close_tags * depth


SAFE = paragraph("Safe text")
TABLE = ("<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>")
BOX = ("<w:p><w:r><w:pict><v:shape><v:textbox><w:txbxContent>", "</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>")
CONTROL = ("<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>")
DTD = '<!DOCTYPE x [<!ENTITY a "ha">]>'
CELL = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'

word("tables_in_tables_82.docx", "as many tables in tables as XML may be deep", "text", "Safe text", nested(82, *TABLE, SAFE))
word("tables_in_tables_1000.docx", "tables in tables", "limit", "", nested(1000, *TABLE, SAFE))
word("boxes_in_boxes_40.docx", "text boxes in text boxes", "text", "Safe text", nested(40, *BOX, SAFE))
word("controls_in_controls_120.docx", "content controls in content controls", "text", "Safe text", nested(120, *CONTROL, SAFE))
word("insertions_in_insertions_240.docx", "insertions in insertions", "text", "Safe text",
     "<w:p>" + nested(240, "<w:ins>", "</w:ins>", "<w:r><w:t>Safe text</w:t></w:r>") + "</w:p>")
word("cell_spans_2147483647.docx", "a cell that spans 2^31-1 columns", "text", "Safe text",
     f'<w:tbl><w:tr><w:trPr><w:gridBefore w:val="2147483647"/></w:trPr><w:tc><w:tcPr><w:gridSpan w:val="2147483647"/></w:tcPr>{SAFE}</w:tc></w:tr></w:tbl>')
word("styles_in_a_circle.docx", "two styles that are based on each other", "text", "Safe text",
     paragraph("Safe text", '<w:pPr><w:pStyle w:val="a"/></w:pPr>'),
     styles=f'<w:styles {W}><w:style w:type="paragraph" w:styleId="a"><w:basedOn w:val="b"/></w:style>'
            '<w:style w:type="paragraph" w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>')
word("label_of_a_million_counts.docx", "a list label of a million places", "text", "Safe text",
     paragraph("Safe text", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'),
     numbering=f'<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="18446744073709551615"/>'
               f'<w:lvlText w:val="{"%1" * 1000000}"/></w:lvl></w:abstractNum>'
               '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>')
word("styles_missing.docx", "its styles are not in the package", "text", "Safe text", SAFE, styles=None)
word("notes_with_a_dtd.docx", "a DTD in the footnotes", "text", "Safe text", SAFE,
     footnotes=f'{DTD}<w:footnotes {W}/>')
word("dtd.docx", "a DTD in the main part", "error", "", SAFE, prolog=DTD)
word("million_paragraphs.docx", "a million paragraphs", "text|limit", "", paragraph("x") * 1000000)
word("no_text.docx", "a document without any text: told in a warning", "warning", "", "<w:p/>")

sheet("far_cell.xlsx", "the last cell of a sheet and nothing before it", "text", "shared",
      '<row r="1048576"><c r="XFD1048576" t="s"><v>0</v></c></row>')
sheet("cells_that_are_nowhere.xlsx", "rows and columns beyond any sheet", "text", "shared",
      CELL + '<row r="99999999999"><c r="A99999999999"><v>1</v></c><c r="ZZZZZZZZZZ9"><v>2</v></c></row>')
sheet("strings_that_are_not_there.xlsx", "indexes of shared strings that do not exist", "text", "shared",
      CELL + '<row r="2"><c r="A2" t="s"><v>4294967296</v></c><c r="B2" t="s"><v>-1</v></c></row>')
sheet("merged_200000.xlsx", "200,000 merged ranges", "limit", "", CELL,
      after="<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 200000 + "</mergeCells>")
sheet("merged_whole_columns.xlsx", "10,000 merged ranges over 10,000 rows", "text|limit", "",
      "".join(f'<row r="{r}"><c r="A{r}"><v>{r}</v></c></row>' for r in range(1, 10001)),
      after="<mergeCells>" + "".join(f'<mergeCell ref="B{r}:XFD1048576"/>' for r in range(1, 10001)) + "</mergeCells>")
sheet("million_cells.xlsx", "a million cells in one row each", "text|limit", "",
      "<row><c><v>1</v></c></row>" * 1000000)
sheet("dtd.xlsx", "a DTD in the only sheet", "error", "", CELL, prolog=DTD)
sheet("runs_in_runs_240.xlsx", "runs in runs of a shared string", "text", "shared", CELL,
      strings="<si>" + nested(240, "<r>", "</r>", "<t>shared</t>") + "</si>")
sheet("numbers_that_are_none.xlsx", "numbers too large for any format, and dates before all days", "text", "shared",
      CELL + '<row r="2"><c r="A2"><v>1e999</v></c><c r="B2"><v>nan</v></c><c r="C2"><v>-1e308</v></c></row>')
sheet("no_cells.xlsx", "a sheet without cells: told in a warning", "warning", "", "")



# What costs little once and much when it is repeated.

def word_of(name, what, expected, text, document, entries=(), external=(), **parts):
    """A document whose further parts and their relationships are given."""
    inside = links(entries).replace("</Relationships>", "") + "".join(
        f'<Relationship Id="{i}" Type="{OFFICE}/hyperlink" Target="{target}" TargetMode="External"/>' for i, target in external
    ) + "</Relationships>"
    write(name, what, expected, text, {
        "_rels/.rels": links([("m", "officeDocument", "d.xml")]),
        "d.xml": document,
        "_rels/d.xml.rels": inside,
    } | {f"{part}.xml": content for part, content in parts.items()})


def document(body, more=""):
    return f"<w:document {W} {more}><w:body>{body}</w:body></w:document>"


STYLED = paragraph("x", '<w:pPr><w:pStyle w:val="a"/></w:pPr>')
LONG = "heading " + "x" * 1000000

word("style_name_of_a_megabyte.docx", "20,000 paragraphs of a style whose name is a megabyte long", "text", "Safe text",
     SAFE + STYLED * 20000,
     styles=f'<w:styles {W}><w:style w:type="paragraph" w:styleId="a"><w:name w:val="{LONG}"/></w:style></w:styles>')
word("list_label_of_a_megabyte.docx", "20,000 items of a list whose label is a megabyte long", "text", "Safe text",
     SAFE + paragraph("x", '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>') * 20000,
     numbering=f'<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:lvlText w:val="{LONG}"/></w:lvl></w:abstractNum>'
               '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>')
word("list_id_of_a_megabyte.docx", "20,000 paragraphs of a style whose list has an id a megabyte long", "text", "Safe text",
     SAFE + STYLED * 20000,
     styles=f'<w:styles {W}><w:style w:type="paragraph" w:styleId="a"><w:pPr><w:numPr><w:numId w:val="{LONG}"/></w:numPr></w:pPr></w:style></w:styles>')
word_of("link_target_of_a_megabyte.docx", "20,000 links to a target a megabyte long", "text|limit", "",
        document('<w:p><w:hyperlink r:id="l"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>' * 20000),
        external=[("l", "https://example.org/" + "x" * 1000000)])
word_of("one_header_of_30000_sections.docx", "30,000 sections with one header between them", "text", "Safe text",
        document(SAFE + '<w:p><w:pPr><w:sectPr><w:headerReference r:id="h"/></w:sectPr></w:pPr></w:p>' * 30000),
        [("h", "header", "h.xml")], h=f"<w:hdr {W}>{paragraph('above')}</w:hdr>")
word_of("one_header_by_2000_names.docx", "2,000 relationships that lead to one header of 100 KB", "text|limit", "",
        document(SAFE + "".join(f'<w:p><w:pPr><w:sectPr><w:headerReference r:id="h{n}"/></w:sectPr></w:pPr></w:p>' for n in range(2000))),
        [(f"h{n}", "header", "h.xml") for n in range(2000)], h=f"<w:hdr {W}>{paragraph('above') * 3000}</w:hdr>")
word("inserted_documents_300000.docx", "300,000 documents inserted whole", "warning", "", "<w:altChunk/>" * 300000)
word("empty_runs_600000.docx", "600,000 empty runs in one paragraph", "text", "Safe text",
     "<w:p>" + "<w:r/>" * 600000 + "</w:p>" + SAFE)
word("spans_in_50000_rows.docx", "50,000 rows of one cell each that spans 63 columns", "text|limit", "",
     "<w:tbl>" + '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="63"/></w:tcPr><w:p/></w:tc></w:tr>' * 50000 + "</w:tbl>")
word("one_row_of_20000_cells.docx", "a row of 20,000 cells among 20,000 of one", "text|limit", "",
     "<w:tbl>" + ("<w:tr>" + "<w:tc><w:p/></w:tc>" * 20000 + "</w:tr>") + f"<w:tr><w:tc>{paragraph('x')}</w:tc></w:tr>" * 20000 + "</w:tbl>")
word_of("prefixes_127.docx", "127 prefixes, and 100,000 elements with the first of them", "text", "Safe text",
        document(SAFE + "<w:p/>" * 100000, "".join(f'xmlns:n{n}="urn:{n}" ' for n in range(120))))
word_of("prefixes_600.docx", "600 prefixes", "limit", "",
        document(SAFE, "".join(f'xmlns:n{n}="urn:{n}" ' for n in range(600))))
word("attributes_4000_in_a_tag.docx", "a tag of 4,000 attributes", "limit", "",
     "<w:p " + "".join(f'a{n}="1" ' for n in range(4000)) + "/>")
word("attributes_1000_in_1000_tags.docx", "1,000 tags of 1,000 attributes", "text|limit", "",
     SAFE + ("<w:p " + "".join(f'a{n}="" ' for n in range(1000)) + "/>") * 1000)
CHOICE = ('<mc:AlternateContent><mc:Choice Requires="n">', "</mc:Choice></mc:AlternateContent>")
COMPATIBILITY = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:n="urn:n"'
word_of("choices_in_choices_100.docx", "alternatives in alternatives, none understood, round half a megabyte", "text|limit", "",
        document(nested(100, *CHOICE, SAFE * 9000), COMPATIBILITY))
word_of("choices_25000.docx", "25,000 alternatives, none understood", "text", "Safe text",
        document(nested(1, *CHOICE, SAFE) * 25000, COMPATIBILITY))
word("instructions_200000.docx", "processing instructions, comments and character data in between", "text", "a</w:t>b",
     "<?a <b> ?><!-- </w:p> -->" * 100000 + '<w:p xml:space="preserve"><w:r><w:t>a<![CDATA[</w:t>]]>b</w:t></w:r></w:p>')
word("byte_order_mark_inside.docx", "byte order marks between and in elements", "text", "Safe text",
     "\ufeff" + SAFE + "\ufeff")
word("nul_in_text.docx", "a NUL and a reference to one", "error|text", "", paragraph("a\0b&#0;"))
SURROGATE = document(SAFE).encode("utf-16").replace("S".encode("utf-16-le"), b"\x00\xd8")
word_of("lone_surrogate.docx", "UTF-16 with half of a pair", "error", "", SURROGATE)
word_of("utf_16.docx", "UTF-16 with its byte order mark", "text", "Safe text", document(SAFE).encode("utf-16"))

sheet("string_in_100000_cells.xlsx", "100,000 cells with one string of 100 KB", "text", "shared",
      CELL + '<row r="2">' + '<c t="s"><v>1</v></c>' * 10 + "</row>" + '<row><c t="s"><v>1</v></c></row>' * 100000,
      strings="<si><t>shared</t></si><si><t>" + "x" * 100000 + "</t></si>")
sheet("string_in_a_row_of_16000.xlsx", "a row of 16,000 cells with one string of a megabyte", "limit", "",
      "<row>" + '<c t="s"><v>0</v></c>' * 16000 + "</row>", strings="<si><t>" + "x" * 1000000 + "</t></si>")
sheet("strings_500000_empty.xlsx", "500,000 empty shared strings", "text", "shared", CELL,
      strings="<si><t>shared</t></si>" + "<si/>" * 500000)


def sheet_beside(name, what, expected, text, **parts):
    """A workbook of one cell, with a part for each kind that stands beside it."""
    book = f'<workbook {S}><sheets><sheet name="One" r:id="a"/></sheets></workbook>'
    write(name, what, expected, text, {
        "_rels/.rels": links([("m", "officeDocument", "b.xml")]),
        "b.xml": book,
        "_rels/b.xml.rels": links([("a", "worksheet", "1.xml")]),
        "1.xml": f'<worksheet {S}><sheetData><row><c t="inlineStr"><is><t>shared</t></is></c></row></sheetData></worksheet>',
        "_rels/1.xml.rels": links([(kind, kind, f"{kind}.xml") for kind in parts]),
        "_rels/drawing.xml.rels": links([("c", "chart", "drawing.xml")]),
    } | {f"{kind}.xml": content for kind, content in parts.items()})


sheet_beside("author_of_a_megabyte.xlsx", "30,000 comments by an author whose name is a megabyte long", "text|limit", "",
             comments=f"<comments {S}><authors><author>{LONG}</author></authors><commentList>"
                      + '<comment ref="A1" authorId="0"><text><t>x</t></text></comment>' * 30000 + "</commentList></comments>")
XDR = 'xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
sheet_beside("drawing_that_is_its_own_chart.xlsx", "5,000 charts that are the drawing they stand in", "text|limit", "",
             drawing=f'<xdr:wsDr {XDR} xmlns:r="{OFFICE}">' + '<c:chart r:id="c"/>' * 5000 + "</xdr:wsDr>")

# What the archive itself says.

class Archive:
    """An archive whose every field can lie."""

    def __init__(self):
        self.data, self.directory, self.count = b"", b"", 0

    def add(self, name, content, local=None, flags=0, sizes=None, extra=b"", at=None):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        packed = packer.compress(content) + packer.flush()
        crc, name = zlib.crc32(content), name.encode()
        offset = len(self.data) if at is None else at
        if at is None:
            stated = local or (crc, len(packed), len(content))
            self.data += struct.pack("<4s5H3L2H", b"PK\3\4", 20, flags, 8, 0, 33, *stated, len(name), 0) + name + packed
            if flags & 8:
                self.data += struct.pack("<4s3L", b"PK\7\x08", 1, 2, 3)
        compressed, size = sizes or (len(packed), len(content))
        self.directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, flags, 8, 0, 33, crc, compressed, size,
                                      len(name), len(extra), 0, 0, 0, 0, offset) + name + extra
        self.count += 1
        return offset

    def write(self, name, what, expected, text):
        end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, self.count % 65536, self.count % 65536, len(self.directory), len(self.data), 0)
        with open(name, "wb") as file:
            file.write(self.data + self.directory + end)
        rows.append((name, what, expected, text))


def word_archive():
    archive = Archive()
    archive.add("_rels/.rels", links([("m", "officeDocument", "d.xml")]).encode())
    return archive


archive = word_archive()
archive.add("d.xml", document(SAFE).encode(), sizes=(0xFFFFFFFF, 0xFFFFFFFF), extra=struct.pack("<2H2Q", 1, 16, 2**62, 2**62))
archive.write("zip64_sizes_of_2_62.docx", "a part whose ZIP64 sizes are 2^62", "error", "")
archive = word_archive()
archive.add("d.xml", document(SAFE).encode(), sizes=(0xFFFFFFFF, 0xFFFFFFFF), extra=struct.pack("<2HQ", 1, 8, 5))
archive.write("zip64_field_cut_off.docx", "a ZIP64 field with one size of two", "error", "")
archive = word_archive()
archive.add("d.xml", document(SAFE).encode(), local=(0, 0, 0), flags=8)
archive.write("descriptor_that_lies.docx", "a data descriptor with other sizes than the directory", "text", "Safe text")
archive = word_archive()
spot = archive.add("d.xml", document(SAFE).encode())
for number in range(2000):
    archive.add(f"x{number}.xml", document(SAFE).encode(), at=spot)
archive.write("overlapping_2000.docx", "2,000 entries with the data of one", "text", "Safe text")

P = f'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="{OFFICE}"'
SLIDE = f"<p:sld {P}><p:sp><p:txBody><a:p><a:r><a:t>Safe text</a:t></a:r></a:p></p:txBody></p:sp>{' ' * 3900000}</p:sld>".encode()
archive = Archive()
archive.add("_rels/.rels", links([("m", "officeDocument", "p.xml")]).encode())
archive.add("p.xml", (f"<p:presentation {P}><p:sldIdLst>" + "".join(f'<p:sldId r:id="s{n}"/>' for n in range(100)) + "</p:sldIdLst></p:presentation>").encode())
archive.add("_rels/p.xml.rels", links([(f"s{n}", "slide", f"s{n}.xml") for n in range(100)]).encode())
spot = archive.add("s0.xml", SLIDE)
for number in range(1, 100):
    archive.add(f"s{number}.xml", SLIDE, at=spot)
archive.write("bomb_in_100_slides.pptx", "100 slides that share one stream just below the size at which a ratio counts", "limit", "")

with open("MANIFEST.tsv", "w", encoding="utf-8") as manifest:
    manifest.write("file\twhat\texpected_class\texpected_text\n")
    for row in rows:
        manifest.write("\t".join(row) + "\n")
