//! The tools, one file each. A new tool is its file and its two lines here.

mod append_file;
mod apply_patch;
mod copy_file;
pub(crate) mod create_directory;
pub(crate) mod create_file;
pub(crate) mod delete_file;
mod edit_file;
pub(crate) mod file_exists;
mod file_info;
pub(crate) mod find_files;
mod generate_from_template;
pub(crate) mod list_files;
pub(crate) mod move_file;
mod read_document;
mod read_docx;
mod read_file;
mod read_files;
mod read_pptx;
mod read_xlsx;
mod sandbox_filesystem;
pub(crate) mod search_files;
pub(crate) mod shared;
#[cfg(test)]
mod tests;
mod write_file;

rootbound_tool::export!(
    read_file::ReadFile,
    read_files::ReadFiles,
    list_files::ListFiles,
    find_files::FindFiles,
    search_files::SearchFiles,
    file_exists::FileExists,
    file_info::FileInfo,
    read_document::ReadDocument,
    read_pptx::ReadPptx,
    read_docx::ReadDocx,
    read_xlsx::ReadXlsx,
    write_file::WriteFile,
    create_file::CreateFile,
    edit_file::EditFile,
    append_file::AppendFile,
    apply_patch::ApplyPatch,
    copy_file::CopyFile,
    move_file::MoveFile,
    create_directory::CreateDirectory,
    delete_file::DeleteFile,
    generate_from_template::GenerateFromTemplate,
    sandbox_filesystem::SandboxFilesystem,
);
