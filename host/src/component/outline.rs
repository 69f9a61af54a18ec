//! How much work a component's outline is for whoever validates it, found out before that is done.
//!
//! What a component says about modules, components and types is short, and what it comes to is not:
//! an instantiation of three bytes takes a copy of every name that is exported, and components
//! that instantiate components multiply. So the whole outline is read first, with the names that
//! each part comes to; nothing is copied here, and the time is that for reading the file.

use std::collections::HashMap;
use std::rc::Rc;

use wasmparser::{
    CanonicalFunction, ComponentAlias, ComponentDefinedType, ComponentExport, ComponentExternName,
    ComponentExternalKind as Kind, ComponentInstance, ComponentOuterAliasKind as Outer,
    ComponentType, ComponentTypeDeclaration, ComponentTypeRef, ComponentValType, CoreType,
    Encoding, Instance, InstanceTypeDeclaration, ModuleTypeDeclaration, Payload, TypeBounds,
};

use super::fault::ComponentError;

/// Names that all uses of all parts come to. Each takes up to 200 bytes of memory while it is
/// validated. All of WASI's file system comes to one thousand.
const MAX_USES: usize = 1 << 20;
/// Instances inside instances: to each resource in them the way is kept.
const MAX_DEPTH: usize = 50;
/// Bytes of a name that count as one more.
const LONG_NAME: usize = 128;
/// Names of an enumeration that count as one more: they are compared and not copied.
const MANY_NAMES: usize = 16;

/// What it takes to use something.
#[derive(Clone, Default)]
struct Item<'a> {
    /// The names in it, and in all that it holds, each as often as it is reached.
    names: usize,
    /// Those of what a component imports.
    imports: usize,
    /// What all uses inside a component come to, which each instantiation repeats.
    uses: usize,
    depth: usize,
    exports: Rc<HashMap<&'a str, Item<'a>>>,
}

/// A module, a component or the type of one, while it is read.
#[derive(Default)]
struct Scope<'a> {
    is_module: bool,
    items: [Vec<Item<'a>>; 6],
    core_types: Vec<Item<'a>>,
    /// Names of the largest of its types.
    largest: usize,
    names: usize,
    imports: usize,
    uses: usize,
    depth: usize,
    exports: HashMap<&'a str, Item<'a>>,
}

/// The reading of an outline, part after part.
#[derive(Default)]
pub(super) struct Outline<'a> {
    open: Vec<Scope<'a>>,
    uses: usize,
}

impl<'a> Item<'a> {
    fn of(names: usize) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    fn whole(&self) -> usize {
        self.names.saturating_add(self.imports)
    }
}

impl<'a> Scope<'a> {
    fn item(&self, kind: Kind, index: u32) -> Item<'a> {
        let item = self.items[kind as usize].get(index as usize);
        // What is not there the validator finds.
        item.cloned().unwrap_or_default()
    }

    fn push(&mut self, kind: Kind, item: Item<'a>) {
        self.largest = self.largest.max(item.names);
        self.items[kind as usize].push(item);
    }

    fn export(&mut self, name: &'a str, names: usize, item: &Item<'a>) {
        self.names = self.names.saturating_add(names);
        self.depth = self.depth.max(item.depth + 1);
        self.exports.insert(name, item.clone());
    }

    fn into_item(self) -> Item<'a> {
        Item {
            names: self.names,
            imports: self.imports,
            uses: self.uses,
            depth: self.depth,
            exports: Rc::new(self.exports),
        }
    }

    fn value(&self, value: ComponentValType) -> usize {
        match value {
            ComponentValType::Primitive(_) => 1,
            ComponentValType::Type(index) => self.item(Kind::Type, index).names.max(1),
        }
    }

    fn values(&self, values: impl IntoIterator<Item = ComponentValType>) -> usize {
        let each = values.into_iter().map(|value| self.value(value));
        each.fold(1, usize::saturating_add)
    }

    fn named(&self, values: &[(&str, ComponentValType)]) -> usize {
        let names = values.iter().map(|(name, _)| name.len() / LONG_NAME);
        let values = self.values(values.iter().map(|(_, value)| *value));
        names.fold(values, usize::saturating_add)
    }

    fn defined(&self, defined: &ComponentDefinedType<'_>) -> usize {
        use ComponentDefinedType as Defined;
        match defined {
            Defined::Primitive(_) | Defined::Own(_) | Defined::Borrow(_) => 1,
            Defined::Record(fields) => self.named(fields),
            Defined::Variant(cases) => {
                let names = cases.iter().map(|case| 1 + case.name.len() / LONG_NAME);
                let values = self.values(cases.iter().filter_map(|case| case.ty));
                names.fold(values, usize::saturating_add)
            }
            Defined::Flags(names) | Defined::Enum(names) => {
                let long: usize = names.iter().map(|name| name.len() / LONG_NAME).sum();
                1 + names.len() / MANY_NAMES + long
            }
            Defined::Tuple(values) => self.values(values.iter().copied()),
            Defined::List(value) | Defined::Option(value) => self.values([*value]),
            Defined::FixedLengthList(value, _) => self.values([*value]),
            Defined::Map(key, value) => self.values([*key, *value]),
            Defined::Result { ok, err } => self.values(ok.iter().chain(err).copied()),
            Defined::Future(value) | Defined::Stream(value) => self.values(*value),
        }
    }

    fn referred(&self, to: ComponentTypeRef) -> Item<'a> {
        match to {
            ComponentTypeRef::Module(index) => {
                let item = self.core_types.get(index as usize);
                item.cloned().unwrap_or_default()
            }
            ComponentTypeRef::Func(index)
            | ComponentTypeRef::Instance(index)
            | ComponentTypeRef::Component(index)
            | ComponentTypeRef::Type(TypeBounds::Eq(index)) => self.item(Kind::Type, index),
            ComponentTypeRef::Value(value) => Item::of(self.value(value)),
            ComponentTypeRef::Type(TypeBounds::SubResource) => Item::of(1),
        }
    }
}

impl<'a> Outline<'a> {
    /// Reads a part. Parts inside types must not be nested deeper than the stack allows.
    pub(super) fn add(&mut self, payload: &Payload<'a>) -> Result<(), ComponentError> {
        match payload {
            Payload::Version { encoding, .. } => self.open.push(Scope {
                is_module: *encoding == Encoding::Module,
                ..Scope::default()
            }),
            Payload::End(_) => self.close(),
            Payload::ImportSection(section) => {
                for import in section.clone().into_imports() {
                    let import = import?;
                    let names = of_length(import.module.len() + import.name.len());
                    self.scope().names += names;
                    self.charge(names)?;
                }
            }
            Payload::ExportSection(section) => {
                for export in section.clone() {
                    let names = of_length(export?.name.len());
                    self.scope().names += names;
                    self.charge(names)?;
                }
            }
            Payload::CoreTypeSection(section) => {
                for core in section.clone() {
                    self.core_type(core?)?;
                }
            }
            Payload::InstanceSection(section) => {
                for instance in section.clone() {
                    self.core_instance(&instance?)?;
                }
            }
            other => return self.add_of_component(other),
        }
        Ok(())
    }

    fn add_of_component(&mut self, payload: &Payload<'a>) -> Result<(), ComponentError> {
        match payload {
            Payload::ComponentTypeSection(section) => {
                for kind in section.clone() {
                    self.component_type(kind?)?;
                }
            }
            Payload::ComponentInstanceSection(section) => {
                for instance in section.clone() {
                    self.instance(instance?)?;
                }
            }
            Payload::ComponentAliasSection(section) => {
                for alias in section.clone() {
                    self.alias(alias?)?;
                }
            }
            Payload::ComponentCanonicalSection(section) => {
                for function in section.clone() {
                    self.canonical(&function?)?;
                }
            }
            Payload::ComponentImportSection(section) => {
                for import in section.clone() {
                    let import = import?;
                    self.import(&import.name, import.ty)?;
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.clone() {
                    self.export(&export?)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The part that is read; of a file that begins with none nothing comes of it.
    fn scope(&mut self) -> &mut Scope<'a> {
        if self.open.is_empty() {
            self.open.push(Scope::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn charge(&mut self, uses: usize) -> Result<(), ComponentError> {
        let scope = self.scope();
        scope.uses = scope.uses.saturating_add(uses);
        self.uses = self.uses.saturating_add(uses);
        match self.uses > MAX_USES {
            true => Err(ComponentError::too_many("uses of names", MAX_USES)),
            false => Ok(()),
        }
    }

    fn close(&mut self) {
        let Some(scope) = self.open.pop() else {
            return;
        };
        let kind = match scope.is_module {
            true => Kind::Module,
            false => Kind::Component,
        };
        if let Some(around) = self.open.last_mut() {
            around.push(kind, scope.into_item());
        }
    }

    fn core_type(&mut self, core: CoreType<'a>) -> Result<(), ComponentError> {
        match core {
            CoreType::Rec(group) => {
                let types = group.types().len();
                self.scope().core_types.extend(vec![Item::of(1); types]);
                self.charge(types)
            }
            CoreType::Module(declarations) => {
                let names = declarations.iter().map(of_declaration).sum();
                self.scope().core_types.push(Item::of(names));
                self.charge(names)
            }
        }
    }

    fn core_instance(&mut self, instance: &Instance<'a>) -> Result<(), ComponentError> {
        match instance {
            Instance::Instantiate { module_index, args } => {
                let names = self.scope().item(Kind::Module, *module_index).names;
                self.charge(names.saturating_add(1 + args.len()))
            }
            Instance::FromExports(exports) => {
                let names = exports.iter().map(|export| of_length(export.name.len()));
                self.charge(names.sum::<usize>() + 1)
            }
        }
    }

    fn component_type(&mut self, kind: ComponentType<'a>) -> Result<(), ComponentError> {
        let scope = self.scope();
        let item = match kind {
            ComponentType::Defined(defined) => Item::of(scope.defined(&defined)),
            ComponentType::Func(function) => {
                let params = scope.named(&function.params);
                let result = scope.values(function.result);
                Item::of(params.saturating_add(result))
            }
            ComponentType::Resource { .. } => Item::of(1),
            ComponentType::Component(declarations) => {
                return self.declared(declarations.into_vec());
            }
            ComponentType::Instance(declarations) => {
                return self.declared(declarations.into_vec().into_iter().map(as_of_component));
            }
        };
        scope.push(Kind::Type, item);
        self.charge(1)
    }

    fn declared(
        &mut self,
        declarations: impl IntoIterator<Item = ComponentTypeDeclaration<'a>>,
    ) -> Result<(), ComponentError> {
        self.open.push(Scope::default());
        for declaration in declarations {
            match declaration {
                ComponentTypeDeclaration::CoreType(core) => self.core_type(core)?,
                ComponentTypeDeclaration::Type(kind) => self.component_type(kind)?,
                ComponentTypeDeclaration::Alias(alias) => self.alias(alias)?,
                ComponentTypeDeclaration::Export { name, ty } => {
                    let item = self.scope().referred(ty);
                    self.add_export(&name, ty.kind(), item)?;
                }
                ComponentTypeDeclaration::Import(import) => self.import(&import.name, import.ty)?,
            }
        }
        let item = self.open.pop().unwrap_or_default().into_item();
        self.scope().push(Kind::Type, item);
        self.charge(1)
    }

    fn instance(&mut self, instance: ComponentInstance<'a>) -> Result<(), ComponentError> {
        match instance {
            ComponentInstance::Instantiate {
                component_index,
                args,
            } => {
                let scope = self.scope();
                let component = scope.item(Kind::Component, component_index);
                let given = args.iter().map(|it| scope.item(it.kind, it.index).whole());
                let given = given.fold(args.len(), usize::saturating_add);
                let repeated = component.whole().saturating_add(component.uses);
                scope.push(
                    Kind::Instance,
                    Item {
                        imports: 0,
                        uses: 0,
                        ..component
                    },
                );
                self.charge(repeated.saturating_add(given).saturating_add(1))
            }
            ComponentInstance::FromExports(exports) => {
                self.open.push(Scope::default());
                for export in exports {
                    let around = self.open.len() - 2;
                    let item = self.open[around].item(export.kind, export.index);
                    self.add_export(&export.name, export.kind, item)?;
                }
                let scope = self.open.pop().unwrap_or_default();
                let uses = scope.uses;
                self.scope().push(Kind::Instance, scope.into_item());
                self.scope().uses += uses;
                self.charge(1)
            }
        }
    }

    fn alias(&mut self, alias: ComponentAlias<'a>) -> Result<(), ComponentError> {
        match alias {
            ComponentAlias::InstanceExport {
                kind,
                instance_index,
                name,
            } => {
                let scope = self.scope();
                let instance = scope.item(Kind::Instance, instance_index);
                scope.push(
                    kind,
                    instance.exports.get(name).cloned().unwrap_or_default(),
                );
                self.charge(1)
            }
            ComponentAlias::CoreInstanceExport { .. } => self.charge(1),
            ComponentAlias::Outer { kind, count, index } => self.outer(kind, count, index),
        }
    }

    /// A type of a part around this one must have no resources of that: it is looked through.
    fn outer(&mut self, kind: Outer, count: u32, index: u32) -> Result<(), ComponentError> {
        let around = self.open.len().checked_sub(1 + count as usize);
        let of = |kind| {
            around
                .map(|at| self.open[at].item(kind, index))
                .unwrap_or_default()
        };
        match kind {
            Outer::CoreType => {
                let types = around.map(|at| &self.open[at].core_types);
                let item = types.and_then(|types| types.get(index as usize)).cloned();
                self.scope().core_types.push(item.unwrap_or_default());
                self.charge(1)
            }
            Outer::Type => {
                let item = of(Kind::Type);
                let names = item.whole();
                self.scope().push(Kind::Type, item);
                self.charge(names.saturating_add(1))
            }
            Outer::CoreModule | Outer::Component => {
                let kind = match kind {
                    Outer::CoreModule => Kind::Module,
                    _ => Kind::Component,
                };
                let item = of(kind);
                self.scope().push(kind, item);
                self.charge(1)
            }
        }
    }

    fn canonical(&mut self, function: &CanonicalFunction) -> Result<(), ComponentError> {
        let scope = self.scope();
        let names = match function {
            CanonicalFunction::Lift { type_index, .. } => {
                let item = scope.item(Kind::Type, *type_index);
                scope.push(Kind::Func, item.clone());
                item.names
            }
            CanonicalFunction::Lower { func_index, .. } => {
                scope.item(Kind::Func, *func_index).names
            }
            CanonicalFunction::ResourceNew { .. }
            | CanonicalFunction::ResourceDrop { .. }
            | CanonicalFunction::ResourceRep { .. } => 0,
            // The engine has none of the others, which are validated first.
            _ => scope.largest,
        };
        self.charge(names.saturating_add(1))
    }

    fn import(
        &mut self,
        name: &ComponentExternName<'a>,
        kind: ComponentTypeRef,
    ) -> Result<(), ComponentError> {
        let scope = self.scope();
        let item = scope.referred(kind);
        let names = item.whole().saturating_add(of_name(name));
        scope.imports = scope.imports.saturating_add(names);
        scope.push(kind.kind(), item);
        self.charge(names)
    }

    fn export(&mut self, export: &ComponentExport<'a>) -> Result<(), ComponentError> {
        let scope = self.scope();
        let item = scope.item(export.kind, export.index);
        match export.ty {
            None => self.add_export(&export.name, export.kind, item),
            Some(ascribed) => {
                let ascribed = scope.referred(ascribed);
                self.charge(item.whole())?;
                self.add_export(&export.name, export.kind, ascribed)
            }
        }
    }

    fn add_export(
        &mut self,
        name: &ComponentExternName<'a>,
        kind: Kind,
        item: Item<'a>,
    ) -> Result<(), ComponentError> {
        let names = item.whole().saturating_add(of_name(name));
        let scope = self.scope();
        scope.export(name.name, names, &item);
        scope.push(kind, item);
        if scope.depth > MAX_DEPTH {
            return Err(ComponentError::too_many(
                "instances inside instances",
                MAX_DEPTH,
            ));
        }
        self.charge(names)
    }
}

/// What the type of an instance declares, that of a component may too.
fn as_of_component(declaration: InstanceTypeDeclaration<'_>) -> ComponentTypeDeclaration<'_> {
    use ComponentTypeDeclaration as Declared;
    match declaration {
        InstanceTypeDeclaration::CoreType(core) => Declared::CoreType(core),
        InstanceTypeDeclaration::Type(kind) => Declared::Type(kind),
        InstanceTypeDeclaration::Alias(alias) => Declared::Alias(alias),
        InstanceTypeDeclaration::Export { name, ty } => Declared::Export { name, ty },
    }
}

fn of_length(bytes: usize) -> usize {
    1 + bytes / LONG_NAME
}

fn of_name(name: &ComponentExternName<'_>) -> usize {
    let more = [name.implements, name.version_suffix, name.external_id];
    let more = more.into_iter().flatten().map(str::len);
    of_length(name.name.len() + more.sum::<usize>())
}

fn of_declaration(declaration: &ModuleTypeDeclaration<'_>) -> usize {
    match declaration {
        ModuleTypeDeclaration::Import(import) => of_length(import.module.len() + import.name.len()),
        ModuleTypeDeclaration::Export { name, .. } => of_length(name.len()),
        ModuleTypeDeclaration::Type(_) | ModuleTypeDeclaration::OuterAlias { .. } => 1,
    }
}
