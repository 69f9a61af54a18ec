//! `rootbound inspect`: what a component is and could do, for people and for scripts that
//! decide which components to take.

use std::fmt::Write;

use rootbound::{
    ComponentError, Definition, Import, Imported, Inspection, Manifest, Producer, Standing, escaped,
};
use serde_json::{Map, Value, json};

use super::components::InspectArgs;
use super::{Exit, print, tools};

/// The world that a tool component implements.
const WORLD: &str = "rootbound:tools/tool-component@0.1.0";

/// Stands for what is said of files that were looked into.
const UNKNOWN: &str = "not known, since the file was not read";

/// What was found, and what the tools are, where they were asked for.
struct Found {
    inspection: Inspection,
    tools: Option<Result<Vec<Definition>, ComponentError>>,
}

pub(super) fn run(args: &InspectArgs) -> Exit {
    let inspection = Inspection::of_file(&args.trust.loader(), &args.file);
    let listed = inspection.component().filter(|_| args.tools);
    let tools = listed.map(|component| component.definitions().map(<[Definition]>::to_vec));
    let found = Found { inspection, tools };
    let file = args.file.to_string_lossy();
    match args.json {
        true => print::json(&found.as_json(&file).to_string()),
        false => print::text(&found.as_text(&file)),
    }
    match found.loads() {
        true => Exit::Success,
        false => Exit::Refused,
    }
}

impl Found {
    /// A component whose tools cannot be listed is of no use, and would not be run.
    fn loads(&self) -> bool {
        let listed = self.tools.as_ref().is_none_or(Result::is_ok);
        self.inspection.loads() && listed
    }

    fn has_no_tools(&self) -> bool {
        matches!(&self.tools, Some(Ok(tools)) if tools.is_empty())
    }

    fn problems(&self) -> Vec<Value> {
        let problem = |error: &ComponentError| json!({ "code": error.code(), "message": error.message(), "hint": error.hint() });
        let mut problems: Vec<Value> = self.inspection.problems.iter().map(problem).collect();
        if let Some(Err(error)) = &self.tools {
            problems.push(problem(error));
        }
        problems
    }

    /// The imports that it lacks, if it would be loaded with them.
    fn loads_with(&self) -> Option<Vec<&'static str>> {
        let not_granted = rootbound::component_code::IMPORT_NOT_GRANTED;
        let problems = &self.inspection.problems;
        let only_grants =
            !problems.is_empty() && problems.iter().all(|it| it.code() == not_granted);
        only_grants.then(|| {
            self.inspection
                .wants()
                .iter()
                .map(|it| it.as_str())
                .collect()
        })
    }

    fn as_json(&self, file: &str) -> Value {
        let inspection = &self.inspection;
        let imports: Vec<Value> = inspection.imports.iter().map(import_as_json).collect();
        let wants: Vec<&str> = inspection.wants().iter().map(|it| it.as_str()).collect();
        let never: Vec<&str> = inspection
            .never_given()
            .map(|it| it.name.as_str())
            .collect();
        let mut json = json!({
            "file": file,
            "read": self.is_read(),
            "loads": self.loads(),
            "loads_with": self.loads_with(),
            "problems": self.problems(),
            "size": self.size(),
            "sha256": inspection.sha256,
            "world": self.world(),
            "imports": imports,
            "exports": inspection.exports,
            "producers": producers(inspection),
            "manifest": inspection.manifest.as_ref().map(Manifest::to_json),
            "wants": wants,
            "never_given": never,
            "words": inspection.in_words(),
        });
        if let Some(Ok(tools)) = &self.tools {
            json["tools"] = tools.iter().map(tools::everything).collect();
        }
        json
    }

    /// Whether it was looked into: nothing is said of what was not.
    fn is_read(&self) -> bool {
        let inspection = &self.inspection;
        let foreign = rootbound::component_code::FOREIGN_WORLD;
        let is_foreign = inspection.problems.iter().any(|it| it.code() == foreign);
        is_foreign || !inspection.exports.is_empty() || !inspection.imports.is_empty()
    }

    /// Its bytes, where there were any to be counted.
    fn size(&self) -> Option<u64> {
        let inspection = &self.inspection;
        let is_known = inspection.sha256.is_some() || inspection.size > 0;
        is_known.then_some(inspection.size)
    }

    fn world(&self) -> Option<&'static str> {
        let exports = &self.inspection.exports;
        let provider = exports
            .iter()
            .any(|it| it == "rootbound:tools/provider@0.1.0");
        provider.then_some(WORLD)
    }

    fn as_text(&self, file: &str) -> String {
        let inspection = &self.inspection;
        let mut lines = self.about_the_file(file);
        let words = inspection.in_words();
        if !words.is_empty() {
            lines.push("imports:".to_owned());
            let import = |it: &Imported| format!("  {:<44} {}", it.name, in_words(it.standing));
            lines.extend(inspection.imports.iter().map(import));
            lines.push("exports:".to_owned());
            lines.extend(inspection.exports.iter().map(|it| format!("  {it}")));
            lines.push("could do:".to_owned());
            lines.extend(words.iter().map(|it| format!("  {it}")));
        }
        if let Some(Ok(tools)) = &self.tools {
            lines.push(match tools.is_empty() {
                true => "tools:     none".to_owned(),
                false => "tools:".to_owned(),
            });
            for tool in tools {
                let (name, risk) = (&tool.name, tool.risk.as_str());
                lines.push(format!("  {name} ({risk}): {}", tool.description));
                let others = tool.other_names();
                if !others.is_empty() {
                    lines.push(format!("    also called by: {}", others.join(", ")));
                }
            }
        }
        lines.extend(self.conclusion());
        lines.iter().fold(String::new(), |mut text, line| {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}", escaped(line));
            text
        })
    }

    fn about_the_file(&self, file: &str) -> Vec<String> {
        let inspection = &self.inspection;
        let mut lines = vec![format!("file:      {file}")];
        lines.extend(self.size().map(|size| format!("size:      {size} bytes")));
        lines.extend((inspection.sha256.iter()).map(|it| format!("sha256:    {it}")));
        let world = match self.world() {
            Some(world) => world,
            None if self.is_read() => "none of this host's",
            None => UNKNOWN,
        };
        lines.push(format!("world:     {world}"));
        let made = |it: &Producer| format!("made with: {} {} ({})", it.name, it.version, it.field);
        lines.extend(inspection.producers.iter().map(made));
        lines.push(match &inspection.manifest {
            Some(manifest) => format!("declares:  {}", manifest.to_json()),
            None if self.is_read() => "declares:  nothing; it gets what is granted".to_owned(),
            None => format!("declares:  {UNKNOWN}"),
        });
        lines
    }

    fn conclusion(&self) -> Vec<String> {
        let mut lines = vec![self.verdict()];
        for problem in self.problems() {
            let member = |name: &str| problem[name].as_str().unwrap_or_default();
            lines.push(format!("  {}: {}", member("code"), member("message")));
            if !member("hint").is_empty() {
                lines.push(format!("    {}", member("hint")));
            }
        }
        lines
    }

    fn verdict(&self) -> String {
        match (self.loads(), self.loads_with()) {
            (true, _) if self.has_no_tools() => "it would be loaded, and lists no tools".to_owned(),
            (true, _) => "it would be loaded".to_owned(),
            (false, Some(imports)) => {
                let imports = imports.join(",");
                format!("it would be loaded with `--import {imports}`, and not without:")
            }
            (false, None) => "it would not be loaded:".to_owned(),
        }
    }
}

fn import_as_json(imported: &Imported) -> Value {
    json!({
        "name": imported.name,
        "functions": imported.functions,
        "given": imported.standing.as_str(),
    })
}

fn in_words(standing: Standing) -> String {
    match standing {
        Standing::Files => "given; each call is judged".to_owned(),
        Standing::Types => "types only".to_owned(),
        Standing::Optional(Import::DenyNetwork) => {
            "never given; refused with `--import deny-network`".to_owned()
        }
        Standing::Optional(import) => format!("given with `--import {import}`"),
        Standing::Never => "never given".to_owned(),
    }
}

fn producers(inspection: &Inspection) -> Value {
    let mut fields: Map<String, Value> = Map::new();
    for Producer {
        field,
        name,
        version,
    } in &inspection.producers
    {
        let made = fields.entry(field.clone()).or_insert_with(|| json!([]));
        if let Value::Array(made) = made {
            made.push(json!({ "name": name, "version": version }));
        }
    }
    Value::Object(fields)
}
