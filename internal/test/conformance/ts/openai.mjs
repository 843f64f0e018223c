// Runs the TypeScript SDK of Chat Completions and Responses: reads one call as a line of JSON
// from standard input and writes one response or error as a line of JSON to standard output.
import { createInterface } from 'node:readline';

function open(sdk, call) {
  const options = { maxRetries: 0, apiKey: call.key, defaultHeaders: call.header ?? {} };
  if (call.cloud === 'azure') {
    return new sdk.AzureOpenAI({ ...options, endpoint: call.base_url, apiVersion: '2024-10-21', deployment: call.params.model });
  }
  return new sdk.default({ ...options, baseURL: `${call.base_url}/v1` });
}

// chat sends a request. A stream is read by the helper, whose object has no thinking: it is
// read from the chunks.
async function chat(client, call, view) {
  const helpers = call.major === 'openai-4' ? client.beta.chat.completions : client.chat.completions;
  if (!call.stream) {
    const { data, request_id } = await client.chat.completions.create(call.params).withResponse();
    return finish(view, data, request_id, data.choices[0].message);
  }
  const stream = helpers.stream(call.params);
  let thinking = '';
  stream.on('chunk', (chunk) => {
    view.events.push(JSON.stringify(chunk));
    thinking += chunk.choices[0]?.delta.reasoning_content ?? '';
  });
  const completion = await stream.finalChatCompletion();
  const { message } = completion.choices[0];
  if (thinking) message.reasoning_content = thinking;
  const turn = { role: message.role, content: message.content, tool_calls: message.tool_calls?.map(callOf) };
  return finish(view, completion, '', turn);
}

// callOf returns a tool call without what the helper adds to it.
const callOf = ({ id, type, function: f }) => ({ id, type, function: { name: f.name, arguments: f.arguments } });

// responses sends a request. A stream is read by the helper.
async function responses(client, call, view) {
  if (!call.stream) {
    const { data, request_id } = await client.responses.create(call.params).withResponse();
    return finish(view, data, request_id, data.output.map(itemOf));
  }
  const stream = client.responses.stream(call.params);
  stream.on('event', (event) => view.events.push(JSON.stringify(event)));
  const response = await stream.finalResponse();
  return finish(view, response, '', response.output.map(itemOf));
}

// itemOf returns an item without what the helpers add to it.
function itemOf({ parsed_arguments, ...item }) {
  if (item.type === 'message') item.content = item.content.map(({ parsed, ...part }) => part);
  return item;
}

function finish(view, document, requestID, turn) {
  return Object.assign(view, { document, request_id: requestID ?? '', turn });
}

async function ask(call) {
  const sdk = await import(`./majors/${call.major}/index.mjs`);
  const view = { events: [] };
  try {
    const client = open(sdk, call);
    if (call.op === 'models') {
      view.models = [];
      for await (const m of client.models.list()) view.models.push({ id: m.id, name: m.owned_by, created: String(m.created) });
      return { answer: view };
    }
    return { answer: await (call.format === 'chat' ? chat : responses)(client, call, view) };
  } catch (error) {
    if (!(error instanceof sdk.default.APIError)) return { error: String(error), answer: view };
    return {
      answer: view,
      failure: {
        status: error.status ?? 0,
        type: error.type ?? '',
        code: error.code ?? '',
        param: error.param ?? '',
        message: error.error?.message ?? error.message,
        request_id: error.requestID ?? error.request_id ?? '',
        retry_after: (error.headers?.get ? error.headers.get('retry-after') : error.headers?.['retry-after']) ?? '',
        cause: `${error.name}: ${error.message}`,
      },
    };
  }
}

process.on('unhandledRejection', () => {}); // what a helper leaves behind that has failed
for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await ask(JSON.parse(line))) + '\n');
}
