#!/usr/bin/env python3
"""Makes the packages of this folder, and their MANIFEST.tsv, into the working directory."""

import zipfile

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

with open("MANIFEST.tsv", "w", encoding="utf-8") as manifest:
    manifest.write("file\twhat\texpected_class\texpected_text\n")
    for row in rows:
        manifest.write("\t".join(row) + "\n")
