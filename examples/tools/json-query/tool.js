// `json_query`: a JMESPath query over a JSON file.

import jmespath from "jmespath";
import { getDirectories } from "wasi:filesystem/preopens@0.2.12";

const BLOCK = 512n * 1024n;

const schema = {
    type: "object",
    properties: {
        path: { type: "string", description: "JSON file; a relative path" },
        query: { type: "string", description: "JMESPath expression, such as `people[?age > `30`].name`" },
    },
    required: ["path", "query"],
    additionalProperties: false,
    examples: [{ path: "data/people.json", query: "people[].name" }],
};

const definition = {
    name: "json_query",
    title: "Query a JSON file",
    description:
        "Applies a JMESPath expression to a JSON file and answers with what it selects, as JSON. " +
        "A wrong expression is refused with what is wrong (`invalid-arguments`), a file that is " +
        "not JSON too (`malformed-document`).",
    inputSchema: JSON.stringify(schema),
    outputSchema: JSON.stringify({
        type: "object",
        properties: { path: { type: "string" }, root: { type: "string" }, found: { type: "boolean" } },
        required: ["path", "root", "found"],
    }),
    risk: "read",
    paths: [{ pointer: "path", role: "read", guarded: false }],
};

export const provider = {
    listTools: () => [definition],
    callTool(name, text) {
        if (name !== definition.name) {
            throw wrong("unknown-tool", `there is no tool \`${name}\``, `known tools: \`${definition.name}\``);
        }
        const { path, query } = parsed(text);
        const { root, content } = read(path);
        const result = select(document(path, content), query);
        return {
            fields: JSON.stringify({ path, root, found: result !== null }),
            content: { tag: "text", val: JSON.stringify(result, null, 2) },
        };
    },
};

function select(value, query) {
    try {
        return jmespath.search(value, query);
    } catch (error) {
        throw wrong("invalid-arguments", `\`query\` is wrong: ${error.message}`, "jmespath.org has the grammar");
    }
}

function document(path, content) {
    try {
        return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
    } catch (error) {
        throw wrong("malformed-document", `\`${path}\` is not JSON: ${error.message}`, "look at it with `read_file`");
    }
}

// The file's root and content, from the first read root that has it. Only an absent file moves
// on to the next root, as the contract wants it.
function read(path) {
    const roots = getDirectories().filter(([, name]) => name.startsWith("/read/"));
    if (roots.length === 0) {
        throw wrong("not-granted", "no directory is granted for reading", "ask the user for one");
    }
    for (const [directory, root] of roots) {
        try {
            const file = directory.openAt({ symlinkFollow: true }, path, {}, { read: true });
            return { root, content: readAll(file) };
        } catch (error) {
            if ((error.payload ?? error) !== "no-entry") break;
        }
    }
    // The host knows why it refused, and says it.
    throw { tag: "host" };
}

function readAll(file) {
    const blocks = [];
    let length = 0;
    for (let atEnd = false; !atEnd; ) {
        let block;
        [block, atEnd] = file.read(BLOCK, BigInt(length));
        blocks.push(block);
        length += block.length;
    }
    const content = new Uint8Array(length);
    let offset = 0;
    for (const block of blocks) {
        content.set(block, offset);
        offset += block.length;
    }
    return content;
}

// The arguments of a call, or a refusal that says what is wrong with them.
function parsed(text) {
    let given;
    try {
        given = JSON.parse(text);
    } catch (error) {
        throw invalid(`the arguments are not JSON: ${error.message}`);
    }
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
        throw invalid("the arguments are not an object");
    }
    const unknown = Object.keys(given).find((name) => !(name in schema.properties));
    if (unknown !== undefined) throw invalid(`unknown argument \`${unknown}\``);
    for (const name of schema.required) {
        if (typeof given[name] !== "string") throw invalid(`argument \`${name}\` is missing, or no string`);
    }
    return given;
}

function invalid(message) {
    return wrong("invalid-arguments", message, `give them as ${definition.inputSchema}`);
}

function wrong(code, message, hint) {
    return { tag: "tool", val: { code, message, hint, details: "" } };
}
