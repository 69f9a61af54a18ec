"""Reads documents with python-pptx, python-docx and openpyxl: all text that each gives.

usage: readers.py FOLDER ROUNDS KIND

Prints the processor time of the fastest round, in nanoseconds.
"""

import os
import sys
import time
import warnings

import docx
import openpyxl
import pptx
from pptx.enum.shapes import MSO_SHAPE_TYPE


def texts_of_shapes(shapes):
    for shape in shapes:
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
            yield from texts_of_shapes(shape.shapes)
        elif shape.has_text_frame:
            yield shape.text_frame.text
        elif shape.has_table:
            for row in shape.table.rows:
                for cell in row.cells:
                    yield cell.text_frame.text


def read_pptx(path):
    for slide in pptx.Presentation(path).slides:
        yield from texts_of_shapes(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield slide.notes_slide.notes_text_frame.text


def read_docx(path):
    for block in docx.Document(path).iter_inner_content():
        if isinstance(block, docx.table.Table):
            for row in block.rows:
                for cell in row.cells:
                    yield cell.text
        else:
            yield block.style.name
            yield block.text


def read_xlsx(path):
    book = openpyxl.load_workbook(path, data_only=True)
    for sheet in book.worksheets:
        yield from sheet.iter_rows(values_only=True)


def round_of(read, paths):
    start = time.process_time_ns()
    for path in paths:
        try:
            list(read(path))
        except Exception:  # Whatever a reader makes of a file that it does not open.
            pass
    return time.process_time_ns() - start


def main():
    warnings.simplefilter("ignore")
    folder, rounds, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    read = {"pptx": read_pptx, "docx": read_docx, "xlsx": read_xlsx}[kind]
    paths = [entry.path for entry in os.scandir(folder)]
    print(min(round_of(read, paths) for _ in range(rounds)))


main()
