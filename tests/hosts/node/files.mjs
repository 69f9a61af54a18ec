// The typed `files` of the component in a Node program, transpiled with `jco`.

import { readFile } from "node:fs/promises";
import { WASIShim } from "@bytecodealliance/preview2-shim/instantiation";

// `transpiled` is the directory that `jco transpile --instantiation async` wrote.
export async function open(transpiled, read, write) {
    const { instantiate } = await import(`${transpiled}/file-tools.js`);
    const core = async (name) => WebAssembly.compile(await readFile(`${transpiled}/${name}`));
    const shim = new WASIShim({ sandbox: { preopens: { "/read/0": read, "/write": write } } });
    const component = await instantiate(core, shim.getImportObject());
    return component.files;
}
