//! The component that imports everything, built once per run of the tests; and files to give
//! to the program.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use rootbound::{ComponentLoader, Import, ToolComponent};
use wasm_encoder::{
    BlockType, CodeSection, Component, ComponentExportKind, ComponentExportSection,
    ComponentInstanceSection, ComponentSection, ComponentTypeSection, CustomSection, Function,
    FunctionSection, Module, ModuleSection, NestedComponentSection, PrimitiveValType, Section,
    TypeSection, ValType,
};

use crate::hostile::component::{bytes as hostile, encode};

/// Instructions (WebAssembly 2.0, binary format).
const NOP: u8 = 0x01;
const END: u8 = 0x0b;

/// All names under which something can be granted, as the command line takes them.
pub const ALL: &str = "environment,stdio,clocks,random,exit,deny-network";

/// The component that imports everything.
pub fn importing() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| encode(module()))
}

/// The module that it is made of.
pub fn module() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| std::fs::read(build()).unwrap())
}

/// The same, with everything granted.
pub fn with_everything() -> ToolComponent {
    static LOADED: OnceLock<ToolComponent> = OnceLock::new();
    LOADED.get_or_init(load_with_everything).clone()
}

/// The same, loaded once more: another component.
pub fn load_with_everything() -> ToolComponent {
    let loader = ComponentLoader::default();
    let loader = Import::ALL
        .into_iter()
        .fold(loader, ComponentLoader::import);
    loader.load(importing()).unwrap()
}

/// A component that imports only files.
pub fn plain() -> &'static [u8] {
    hostile()
}

/// A component with a custom section more, put there by hand.
pub fn with_section(name: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = plain().to_owned();
    let section = CustomSection {
        name: name.into(),
        data: data.into(),
    };
    bytes.push(Section::id(&section));
    wasm_encoder::Encode::encode(&section, &mut bytes);
    bytes
}

/// A component that exports its first instance so many times more.
pub fn with_exports(count: usize) -> Vec<u8> {
    let mut bytes = plain().to_owned();
    let mut exports = ComponentExportSection::new();
    for number in 0..count {
        let name = format!("more{number}");
        exports.export(name.as_str(), ComponentExportKind::Instance, 0, None);
    }
    bytes.push(ComponentSection::id(&exports));
    wasm_encoder::Encode::encode(&exports, &mut bytes);
    bytes
}

/// A component with a module more, which has so many functions of so many instructions that do
/// nothing.
pub fn with_functions(count: u32, instructions: usize) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut body = vec![0];
    body.resize(1 + instructions, NOP);
    body.push(END);
    with_module(&types, count, &body)
}

/// A component with a module more, which has nothing but so many types.
pub fn with_types(count: usize) -> Vec<u8> {
    let mut types = TypeSection::new();
    for _ in 0..count {
        types.ty().function([], []);
    }
    with_module(&types, 0, &[])
}

/// A component with a function more, whose fifty thousand variables join at two thousand places.
pub fn with_joins() -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut function = Function::new([(50_000, ValType::I32)]);
    for _ in 0..2000 {
        function
            .instructions()
            .local_get(0)
            .if_(BlockType::Empty)
            .end();
    }
    function.instructions().end();
    with_module(&types, 1, &function.into_raw_body())
}

/// A component with a function more, of whose nested blocks each brings a thousand values.
pub fn with_values() -> Vec<u8> {
    const BLOCKS: usize = 5000;
    let mut types = TypeSection::new();
    types.ty().function([], []);
    types.ty().function([], [ValType::I32; 1000]);
    let mut function = Function::new([]);
    for _ in 0..BLOCKS {
        function.instructions().block(BlockType::FunctionType(1));
    }
    function.instructions().unreachable();
    for _ in 0..BLOCKS {
        function.instructions().end();
    }
    function.instructions().unreachable().end();
    with_module(&types, 1, &function.into_raw_body())
}

/// A component with a function more, of whose branches each carries a thousand values that an
/// earlier one left there.
pub fn with_carried_values() -> Vec<u8> {
    const CARRIED: usize = 1000;
    let mut types = TypeSection::new();
    types.ty().function([], []);
    types.ty().function([], [ValType::I32; CARRIED]);
    let mut function = Function::new([]);
    let mut instructions = function.instructions();
    instructions.block(BlockType::FunctionType(1));
    for _ in 0..CARRIED {
        instructions.i32_const(0);
    }
    for _ in 0..500 {
        instructions.i32_const(0).br_if(0);
    }
    instructions.end();
    for _ in 0..CARRIED {
        instructions.drop();
    }
    instructions.end();
    with_module(&types, 1, &function.into_raw_body())
}

/// A component with a function more, of eight thousand loops inside one another.
pub fn with_loops_in_loops() -> Vec<u8> {
    const LOOPS: usize = 8000;
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut function = Function::new([]);
    for _ in 0..LOOPS {
        function.instructions().loop_(BlockType::Empty);
    }
    for _ in 0..LOOPS {
        function.instructions().end();
    }
    function.instructions().end();
    with_module(&types, 1, &function.into_raw_body())
}

/// A component with a function more, which keeps four thousand values through as many loops.
pub fn with_values_around_loops() -> Vec<u8> {
    const MANY: usize = 4000;
    let mut types = TypeSection::new();
    types.ty().function([], []);
    let mut function = Function::new([]);
    let mut instructions = function.instructions();
    for _ in 0..MANY {
        instructions.i32_const(0);
    }
    for _ in 0..MANY {
        instructions.loop_(BlockType::Empty).i32_const(0).br_if(0);
        instructions.end();
    }
    for _ in 0..MANY {
        instructions.drop();
    }
    instructions.end();
    with_module(&types, 1, &function.into_raw_body())
}

/// A component that instantiates another so many times, which exports so many types under names
/// with this in them.
pub fn instantiating(exports: usize, name: &str, times: usize) -> Vec<u8> {
    let mut inner = Component::new();
    let mut types = ComponentTypeSection::new();
    types.defined_type().primitive(PrimitiveValType::U8);
    let mut exported = ComponentExportSection::new();
    for number in 0..exports {
        let name = format!("{name}{number}");
        exported.export(name.as_str(), ComponentExportKind::Type, 0, None);
    }
    inner.section(&types).section(&exported);
    instances_of(&inner, times).finish()
}

/// A component that has the one before it twice, and so on.
pub fn doubling(levels: usize) -> Vec<u8> {
    let first = Component::new();
    (0..levels)
        .fold(first, |inner, _| instances_of(&inner, 2))
        .finish()
}

/// A component of which each instance exports the one before it.
pub fn instances_in_instances(levels: u32) -> Vec<u8> {
    let mut component = instances_of(&Component::new(), 1);
    let mut instances = ComponentInstanceSection::new();
    for number in 0..levels {
        instances.export_items([("x", ComponentExportKind::Instance, number)]);
    }
    component.section(&instances);
    component.finish()
}

fn instances_of(inner: &Component, times: usize) -> Component {
    let mut instances = ComponentInstanceSection::new();
    for _ in 0..times {
        let none: [(&str, ComponentExportKind, u32); 0] = [];
        instances.instantiate(0, none);
    }
    let mut component = Component::new();
    component
        .section(&NestedComponentSection(inner))
        .section(&instances);
    component
}

/// A component with a module more, which has a function so many times.
fn with_module(types: &TypeSection, count: u32, body: &[u8]) -> Vec<u8> {
    let mut functions = FunctionSection::new();
    let mut code = CodeSection::new();
    for _ in 0..count {
        functions.function(0);
        code.raw(body);
    }
    let mut module = Module::new();
    module.section(types).section(&functions).section(&code);
    let mut bytes = plain().to_owned();
    let section = ModuleSection(&module);
    bytes.push(ComponentSection::id(&section));
    wasm_encoder::Encode::encode(&section, &mut bytes);
    bytes
}

/// A component of types inside types: of components (0x41) or of instances (0x42).
pub fn nested(levels: usize, kind: u8) -> Vec<u8> {
    let mut types = vec![1];
    types.extend([kind, 1, 1].repeat(levels));
    types.extend([kind, 0]);
    let mut bytes = Component::new().finish();
    bytes.push(7);
    wasm_encoder::Encode::encode(&*types, &mut bytes);
    bytes
}

/// Writes a component into a directory.
pub fn file(directory: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let file = directory.join(name);
    std::fs::write(&file, bytes).unwrap();
    file
}

fn build() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let built = Command::new(repository.join("scripts/build-guest"))
        .arg("--manifest-path")
        .arg(repository.join("tests/optional_guest/Cargo.toml"))
        .arg("--target-dir")
        .arg(target.join("guest"))
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(built.status.success(), "the optional guest does not build");
    PathBuf::from(String::from_utf8(built.stdout).unwrap().trim_end())
}
