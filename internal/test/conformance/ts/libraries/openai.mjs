// The SDK of Chat Completions and Responses: a loop over plain calls and the helpers for
// streams and objects, and its own tool runner of each format.
import { maxRounds, objectZod, runTool, schemaOf, toolbox } from './tools.mjs';

const open = (sdk, call) => new sdk.default({ baseURL: `${call.base_url}/v1`, apiKey: call.key, maxRetries: 0 });

const imageURL = (call) => `data:image/png;base64,${call.image}`;

// helpersOf returns where the helpers of Chat Completions are. Version 4 has them in the beta.
const helpersOf = (client, call) => (call.major === 'openai-4' ? client.beta.chat.completions : client.chat.completions);

function chatParams(sdk, call) {
  const content = [{ type: 'text', text: call.prompt }];
  if (call.image) content.unshift({ type: 'image_url', image_url: { url: imageURL(call) } });
  return {
    model: 'gpt-5',
    max_completion_tokens: call.max_tokens || 4096,
    messages: [{ role: 'user', content }],
    ...(call.think && { reasoning_effort: 'high' }),
    ...(call.object && { response_format: sdk.zodResponseFormat(objectZod(sdk.z), 'answer') }),
    ...(call.stream && { stream_options: { include_usage: true } }),
  };
}

// readThinking collects the thinking of a stream, which the helper does not join.
function readThinking(stream, reply) {
  reply.thinking = '';
  stream.on('chunk', (chunk) => { reply.thinking += chunk.choices[0]?.delta.reasoning_content ?? ''; });
  return stream;
}

// chatRound sends one request and returns the message of the response.
async function chatRound(client, call, params, reply) {
  const helpers = helpersOf(client, call);
  let completion;
  if (call.stream) {
    completion = await readThinking(helpers.stream(params), reply).finalChatCompletion();
  } else {
    completion = await (call.object ? helpers.parse(params) : client.chat.completions.create(params));
    reply.thinking = completion.choices[0].message.reasoning_content ?? '';
  }
  const { message } = completion.choices[0];
  reply.text = message.content ?? '';
  reply.object = message.parsed ?? undefined;
  reply.input = completion.usage?.prompt_tokens ?? 0;
  reply.output = completion.usage?.completion_tokens ?? 0;
  return message;
}

export default async function chat(sdk, call, reply) {
  const client = open(sdk, call);
  const params = chatParams(sdk, call);
  if (call.tools) {
    params.tools = toolbox.map(([name, property]) => ({
      type: 'function', function: { name, description: 'Does it.', parameters: schemaOf(property) },
    }));
  }
  for (let round = 0; round < maxRounds; round++) {
    const message = await chatRound(client, call, params, reply);
    if (!message.tool_calls?.length) return;
    const { role, content, tool_calls } = message;
    params.messages.push({ role, content, tool_calls: tool_calls.map(({ id, type, function: f }) => ({ id, type, function: { name: f.name, arguments: f.arguments } })) });
    for (const c of tool_calls) {
      params.messages.push({ role: 'tool', tool_call_id: c.id, content: runTool(reply, c.function.name, JSON.parse(c.function.arguments)) });
    }
  }
  throw new Error('the loop does not end');
}

// chatRunner is the tool runner. Calls without tools have no use for it.
export async function chatRunner(sdk, call, reply) {
  if (!call.tools) return chat(sdk, call, reply);
  const client = open(sdk, call);
  const tools = toolbox.map(([name, property]) => ({
    type: 'function',
    function: {
      name, description: 'Does it.', parameters: schemaOf(property), parse: JSON.parse,
      function: (args) => runTool(reply, name, args),
    },
  }));
  const runner = helpersOf(client, call).runTools({ ...chatParams(sdk, call), stream: call.stream, tools });
  const completion = await runner.finalChatCompletion();
  reply.text = completion.choices[0].message.content ?? '';
  reply.input = completion.usage?.prompt_tokens ?? 0;
  reply.output = completion.usage?.completion_tokens ?? 0;
}

function responseParams(sdk, call) {
  const content = [{ type: 'input_text', text: call.prompt }];
  if (call.image) content.unshift({ type: 'input_image', image_url: imageURL(call), detail: 'auto' });
  return {
    model: 'gpt-5.6',
    max_output_tokens: call.max_tokens || 4096,
    input: [{ role: 'user', content }],
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(call.think && { reasoning: { effort: 'high', summary: 'auto' } }),
    ...(call.object && { text: { format: sdk.zodTextFormat(objectZod(sdk.z), 'answer') } }),
  };
}

const thinkingOf = (output) => output.filter((i) => i.type === 'reasoning').flatMap((i) => i.summary).map((s) => s.text).join('');

function fill(reply, response) {
  if (response.status !== 'completed') throw new Error(`the response is ${response.status}: ${JSON.stringify(response.error ?? response.incomplete_details)}`);
  // The helper of version 4 does not set output_text.
  reply.text = response.output.filter((i) => i.type === 'message').flatMap((i) => i.content).map((p) => p.text ?? '').join('');
  reply.thinking = thinkingOf(response.output);
  reply.object = response.output_parsed ?? undefined;
  reply.input = response.usage?.input_tokens ?? 0;
  reply.output = response.usage?.output_tokens ?? 0;
}

const functionsOf = () => toolbox.map(([name, property]) => ({
  type: 'function', name, description: 'Does it.', parameters: schemaOf(property), strict: false,
}));

// inputOf returns an item without what the helpers add to it, which no server accepts.
function inputOf({ parsed_arguments, ...item }) {
  if (item.type === 'message') item.content = item.content.map(({ parsed, ...part }) => part);
  return item;
}

export async function responses(sdk, call, reply) {
  const client = open(sdk, call);
  const params = responseParams(sdk, call);
  if (call.tools) params.tools = functionsOf();
  for (let round = 0; round < maxRounds; round++) {
    const response = call.stream ? await client.responses.stream(params).finalResponse()
      : await (call.object ? client.responses.parse(params) : client.responses.create(params));
    fill(reply, response);
    const calls = response.output.filter((i) => i.type === 'function_call');
    if (!calls.length) return;
    params.input.push(...response.output.map(inputOf));
    for (const c of calls) {
      params.input.push({ type: 'function_call_output', call_id: c.call_id, output: runTool(reply, c.name, JSON.parse(c.arguments)) });
    }
  }
  throw new Error('the loop does not end');
}

// responsesRunner is the tool runner of Responses.
export async function responsesRunner(sdk, call, reply) {
  if (!call.tools) return responses(sdk, call, reply);
  const client = open(sdk, call);
  const functions = functionsOf().map((tool) => ({ tool, execute: (args) => runTool(reply, tool.name, args) }));
  const runner = new sdk.ResponsesToolRunner({ functions });
  const response = await runner.run(client, responseParams(sdk, call), { stream: call.stream, maxSteps: maxRounds });
  fill(reply, response);
}
