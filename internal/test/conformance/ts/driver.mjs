// Runs the TypeScript SDK: reads one call as a line of JSON from standard input
// and writes one response or error as a line of JSON to standard output.
import { createInterface } from 'node:readline';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk';
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk';

console.warn = () => {}; // the SDK prints that some models are deprecated

function view(message, requestID, events) {
  return {
    id: message.id,
    model: message.model,
    stop_reason: message.stop_reason ?? '',
    input_tokens: message.usage.input_tokens,
    output_tokens: message.usage.output_tokens,
    blocks: message.content.map((b) => ({
      type: b.type,
      text: b.text ?? '',
      thinking: b.thinking ?? '',
      signature: b.signature ?? '',
      id: b.id ?? '',
      name: b.name ?? '',
      input: b.input,
    })),
    request_id: requestID,
    events,
    turn: { role: message.role, content: message.content },
  };
}

function viewModel(m) {
  return { id: m.id, name: m.display_name, created: m.created_at };
}

function open(call) {
  const options = { maxRetries: 0, defaultHeaders: call.header ?? {} };
  switch (call.cloud) {
    case 'bedrock':
      return new AnthropicBedrock({ ...options, baseURL: call.base_url, awsRegion: 'us-east-1', apiKey: call.key });
    case 'vertex': {
      // Its base URL includes the version of Google's API.
      const authClient = { getRequestHeaders: async () => new Headers({ authorization: `Bearer ${call.key}` }) };
      return new AnthropicVertex({ ...options, baseURL: `${call.base_url}/v1`, region: 'global', projectId: 'project', authClient });
    }
  }
  return new Anthropic({
    ...options,
    baseURL: call.base_url,
    apiKey: call.key || null,
    authToken: call.key ? null : call.token || null,
  });
}

async function ask(call) {
  const client = open(call);
  const { messages, models } = call.beta ? client.beta : client;
  const events = [];
  try {
    switch (call.op) {
      case 'count':
        return { answer: { input_tokens: (await messages.countTokens(call.params)).input_tokens } };
      case 'models': {
        const list = [];
        for await (const m of models.list({ limit: call.limit })) list.push(viewModel(m));
        return { answer: { models: list } };
      }
      case 'model':
        return { answer: { models: [viewModel(await models.retrieve(call.name))] } };
    }
    if (!call.stream) {
      const { data, request_id } = await messages.create(call.params).withResponse();
      return { answer: view(data, request_id, []) };
    }
    const stream = messages.stream(call.params);
    stream.on('streamEvent', (event) => {
      events.push(event.type);
      if (call.leave > 0 && events.length === call.leave) stream.abort();
    });
    try {
      const message = await stream.finalMessage();
      return { answer: view(message, stream.request_id, events) };
    } catch (error) {
      if (call.leave > 0 && stream.aborted) return { answer: view(stream.currentMessage, stream.request_id, events) };
      throw error;
    }
  } catch (error) {
    if (!(error instanceof APIError)) return { error: String(error), answer: { events } };
    return {
      answer: { events },
      failure: {
        status: error.status ?? 0,
        type: error.type ?? '',
        message: error.apiMessage ?? '',
        request_id: error.requestID ?? '',
        retry_after: error.headers?.get('retry-after') ?? '',
        cause: `${error.name}: ${error.message}`,
      },
    };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await ask(JSON.parse(line))) + '\n');
}
