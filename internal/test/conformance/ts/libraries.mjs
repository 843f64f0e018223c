// Runs libraries that use the formats: reads one call as a line of JSON from
// standard input and writes one reply as a line of JSON to standard output. If a
// call has tools, the library runs the loop itself, or the driver runs it as the
// library's documentation shows.
//
// A library is a module in libraries. It gets the packages of a call's major
// version from majors. The folders there with a package.json pin older versions,
// each with its own dependencies. The others use the versions of ts/package.json.
import { createInterface } from 'node:readline';
import agents from './libraries/agents.mjs';
import ai from './libraries/ai.mjs';
import anthropic, { runner } from './libraries/anthropic.mjs';
import genai, { generativeAI } from './libraries/genai.mjs';
import langchain from './libraries/langchain.mjs';
import chat, { chatRunner, responses, responsesRunner } from './libraries/openai.mjs';

globalThis.AI_SDK_LOG_WARNINGS = false; // they are in the reply
console.warn = () => {}; // the SDK prints that some models are deprecated
console.error = () => {}; // AI SDK 4 prints errors of streams

const libraries = {
  agents, ai, anthropic, chat, 'chat-runner': chatRunner, genai, 'generative-ai': generativeAI, langchain, responses,
  'responses-runner': responsesRunner, runner,
};

// within fails if a library returns neither a result nor an error.
function within(promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the library does not return')), 20_000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function ask(call) {
  const reply = { text: '', thinking: '', calls: [], warnings: [], input: 0, output: 0 };
  try {
    const sdk = await import(`./majors/${call.major}/index.mjs`);
    await within(libraries[call.library](sdk, call, reply));
  } catch (error) {
    reply.error = `${error.name}: ${error.message} ${error.responseBody ?? ''}`;
    reply.status = error.status ?? error.statusCode ?? error.lastError?.statusCode ?? 0;
  }
  return reply;
}

process.on('unhandledRejection', () => {}); // what a stream leaves behind that has failed
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await ask(JSON.parse(line))) + '\n');
}
