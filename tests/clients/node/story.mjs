// One story by the official TypeScript SDKs.
//
// Usage: story.mjs PACKAGE PROGRAM INPUTS WORKSPACE URL TOKEN [MODE]
//
// PACKAGE is `sdk` (1.x) or `client` (2.x); MODE is 2.x's version negotiation. An empty URL
// means the standard streams.
import assert from 'node:assert/strict';

const [which, program, inputs, workspace, url, token, mode] = process.argv.slice(2);
const questions = [];

async function parts() {
  if (which === 'sdk') {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    return { Client, StdioClientTransport, StreamableHTTPClientTransport, elicit: ElicitRequestSchema };
  }
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return { Client, StdioClientTransport, StreamableHTTPClientTransport, elicit: 'elicitation/create' };
}

const { Client, StdioClientTransport, StreamableHTTPClientTransport, elicit } = await parts();
const options = { capabilities: { elicitation: { form: {} } } };
if (mode) options.versionNegotiation = { mode };
const client = new Client({ name: 'story', version: '1' }, options);
client.setRequestHandler(elicit, async request => {
  questions.push(request.params.message);
  return { action: 'accept', content: { approve: true } };
});

const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })
  : new StdioClientTransport({
      command: program,
      args: ['mcp', '--read', inputs, '--work', workspace, '--max-output-bytes', '9MiB'],
      env: process.env,
    });
await client.connect(transport);

const call = (name, args) => client.callTool({ name, arguments: args });
const fields = result => JSON.parse(result.content.at(-1).text);

assert.match(client.getInstructions(), /read and list/);
const names = (await client.listTools()).tools.map(tool => tool.name);
for (const name of ['read_file', 'write_file', 'delete_file']) assert(names.includes(name), name);
const read = await call('read_file', { path: 'notes.md' });
assert.equal(read.content[0].text, 'hello\n');
const escape = await call('read_file', { path: '../secret' });
assert.equal(escape.isError, true);
assert.equal(fields(escape).code, 'invalid-path');
const written = await call('write_file', { path: 'report.md', content: 'done' });
assert(fields(written).receipt, JSON.stringify(written));
const deleted = await call('delete_file', { path: 'old.md' });
assert(!deleted.isError, JSON.stringify(deleted));
assert.equal(questions.length, 1);
assert.match(questions[0], /old\.md/);
assert.equal((await call('read_file', { path: 'report.md' })).content[0].text, 'done');
assert.equal(fields(await call('file_exists', { path: 'old.md' })).exists, false);
if (!url) {
  // A long result of text that JSON spells longer: the connection has to survive it.
  const long = await call('read_file', { path: 'long.txt' });
  assert(long.isError ? fields(long).code === 'limit-exceeded' : long.content[0].text.length > 0);
  assert.equal((await call('read_file', { path: 'notes.md' })).content[0].text, 'hello\n');
}
await client.close();
