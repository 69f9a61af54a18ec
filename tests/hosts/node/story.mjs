// The story of `story.json`, told by a Node program.
//
// Usage: story.mjs TRANSPILED STORY INPUTS WORKSPACE

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { open } from "./files.mjs";

const [transpiled, story, inputs, workspace] = process.argv.slice(2);
const bytes = { write: 1, append: 1 };

const camel = (name) => name.replace(/-(.)/g, (_, letter) => letter.toUpperCase());

// The arguments as the binding takes them.
function given(name, values) {
    return values.map((value, index) => {
        if (bytes[name] === index) return new TextEncoder().encode(value);
        return value === null ? undefined : fields(value);
    });
}

function fields(value) {
    if (typeof value !== "object" || value === null) return value ?? undefined;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [camel(name), fields(field)]));
}

function answer(files, name, values) {
    try {
        return plain(files[camel(name)](...given(name, values)));
    } catch (error) {
        if (error.payload === undefined) throw error;
        return { error: error.payload.code, message: error.payload.message };
    }
}

// An answer without what JSON does not have.
function plain(value) {
    if (value instanceof Uint8Array) return new TextDecoder().decode(value);
    if (typeof value === "bigint") return Number(value);
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== "object" || value === null) return value ?? null;
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
}

// Whether an answer has what is wanted; it may have more fields.
function fits(answer, wanted) {
    if (Array.isArray(wanted)) return answer.length === wanted.length && wanted.every((item, at) => fits(answer[at], item));
    if (typeof wanted !== "object" || wanted === null) return answer === wanted;
    return Object.entries(wanted).every(([name, value]) => fits(answer?.[camel(name)], value));
}

const secret = (path) => readFileSync(`${inputs}/${path}`, "utf8");
assert.equal(secret("../secret.txt"), "secret\n");
assert.equal(secret("outside"), "secret\n");
const files = await open(transpiled, inputs, workspace);
for (const [name, values, wanted] of JSON.parse(readFileSync(story, "utf8"))) {
    const told = answer(files, name, values);
    assert(fits(told, wanted), `${name} ${JSON.stringify(values)} answered ${JSON.stringify(told)}`);
}
assert.equal(readFileSync(`${workspace}/a/new.md`, "utf8"), "second line");
assert.equal(readFileSync(`${workspace}/b/moved.md`, "utf8"), "hello\nworld\n");
// What holds file descriptors for WASI keeps the process from ending by itself.
process.exit(0);
