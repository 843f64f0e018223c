// Runs two versions of Google's TypeScript SDK: reads one call as a line of JSON
// from standard input and writes its result as a line of JSON to standard output.
import { createInterface } from 'node:readline';
import * as current from '@google/genai';
import * as old from 'genai-old';

const chats = new Map();

// open returns a client that sends the call's key, if any.
function open(sdk, call) {
  if (call.cloud === 'vertex') {
    const authClient = { getRequestHeaders: async () => new Headers({ authorization: `Bearer ${call.key}` }) };
    return new sdk.GoogleGenAI({
      vertexai: true, project: 'project', location: 'global', googleAuthOptions: { authClient }, httpOptions: { baseUrl: call.base_url },
    });
  }
  const headers = call.key ? {} : { 'x-goog-api-key': '' };
  return new sdk.GoogleGenAI({ apiKey: call.key || 'k-unsent', httpOptions: { baseUrl: call.base_url, headers } });
}

// chatOf returns the chat with the call's name. The first call creates it.
function chatOf(sdk, call) {
  if (!chats.has(call.chat)) {
    chats.set(call.chat, open(sdk, call).chats.create({ model: call.model, config: call.config }));
  }
  return chats.get(call.chat);
}

function begin(sdk, call, abortSignal) {
  const config = { ...call.config, abortSignal };
  if (call.op === 'chat') {
    const params = { message: call.parts, config };
    const chat = chatOf(sdk, call);
    return call.stream ? chat.sendMessageStream(params) : chat.sendMessage(params);
  }
  const params = { model: call.model, contents: call.contents, config };
  const { models } = open(sdk, call);
  return call.stream ? models.generateContentStream(params) : models.generateContent(params);
}

// view omits the HTTP headers, whose form differs between SDKs.
const view = ({ sdkHttpResponse, ...chunk }) => chunk;

async function answer(sdk, call, reply) {
  const controller = new AbortController();
  const answered = await begin(sdk, call, controller.signal);
  if (!call.stream) {
    reply.chunks.push(view(answered));
    return;
  }
  for await (const chunk of answered) {
    reply.chunks.push(view(chunk));
    if (reply.chunks.length === call.leave) controller.abort();
  }
}

const viewModel = (m) => ({ id: m.name, name: m.displayName });

async function run(sdk, call, reply) {
  switch (call.op) {
    case 'count':
      reply.tokens = (await open(sdk, call).models.countTokens({ model: call.model, contents: call.contents })).totalTokens;
      return;
    case 'models': {
      const pager = await open(sdk, call).models.list({ config: { pageSize: call.size } });
      for (reply.pages = 1; ; reply.pages++) {
        reply.models.push(...pager.page.map(viewModel));
        if (!pager.hasNextPage()) return;
        await pager.nextPage();
      }
    }
    case 'model':
      reply.models.push(viewModel(await open(sdk, call).models.get({ model: call.model })));
      return;
    case 'history':
      reply.turns = chatOf(sdk, call).getHistory(true).length;
      return;
  }
  await answer(sdk, call, reply);
}

async function ask(call) {
  const sdk = call.old ? old : current;
  const reply = { chunks: [], models: [] };
  try {
    await run(sdk, call, reply);
  } catch (error) {
    if (error instanceof sdk.ApiError) {
      reply.failure = { class: error.name, code: error.status, text: error.message };
    } else {
      reply.left = error.name === 'AbortError';
      reply.error = `${error.name}: ${error.message}`;
    }
  }
  return reply;
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await ask(JSON.parse(line))) + '\n');
}
