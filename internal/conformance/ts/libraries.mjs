// Runs libraries that use the two formats: reads one call as a line of JSON from
// standard input and writes one reply as a line of JSON to standard output. If a
// call has tools, the library runs the loop itself, or the driver runs it as the
// library's documentation shows.
import { createInterface } from 'node:readline';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { generateText, stepCountIs, streamText, tool as aiTool } from 'ai';
import { z } from 'zod';

globalThis.AI_SDK_LOG_WARNINGS = false; // they are in the reply
console.warn = () => {}; // the SDK prints that some models are deprecated

// toolbox is the tools of a call: name and the only property.
const toolbox = [['weather', 'city'], ['time', 'tz']];

const maxRounds = 8;

// runTool records a tool call in the reply.
function runTool(reply, name, args) {
  reply.calls.push(`${name} ${JSON.stringify(args)}`);
  return `result ${reply.calls.length} of ${name}`;
}

const joined = (blocks, type, member) => blocks.filter((b) => b.type === type).map((b) => b[member]).join('');

// The tool runner of the Messages SDK. It uses a thread by itself.
async function runner(call, reply) {
  const client = new Anthropic({ baseURL: call.base_url, apiKey: call.key, maxRetries: 0 });
  const content = [{ type: 'text', text: call.prompt }];
  if (call.image) content.unshift({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: call.image } });
  const params = {
    model: 'claude-sonnet-4-5',
    max_tokens: call.max_tokens || 4096,
    messages: [{ role: 'user', content }],
    ...(call.think && { thinking: { type: 'enabled', budget_tokens: 2048 } }),
    stream: call.stream,
    tools: (call.tools ? toolbox : []).map(([name, property]) => betaTool({
      name,
      description: 'Does it.',
      inputSchema: { type: 'object', properties: { [property]: { type: 'string' } }, required: [property] },
      run: (args) => runTool(reply, name, args),
    })),
  };
  const loop = client.beta.messages.toolRunner(params);
  let message;
  if (call.stream) {
    for await (const stream of loop) message = await stream.finalMessage();
  } else {
    message = await loop;
  }
  reply.text = joined(message.content, 'text', 'text');
  reply.thinking = joined(message.content, 'thinking', 'thinking');
  reply.input = message.usage.input_tokens;
  reply.output = message.usage.output_tokens;
}

const aiModels = {
  messages: (call) => createAnthropic({ baseURL: `${call.base_url}/v1`, apiKey: call.key })('claude-opus-4-8'),
  google: (call) => createGoogle({ baseURL: `${call.base_url}/v1beta`, apiKey: call.key })('gemini-3-pro-preview'),
};

const aiThinking = {
  messages: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2048 } } },
  google: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } } },
};

const aiLevel = {
  messages: { anthropic: { thinking: { type: 'adaptive' }, effort: 'high' } },
  google: { google: { thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' } } },
};

// The AI SDK. Without max_tokens it sends the limit that it lists for the model.
async function ai(call, reply) {
  const content = [{ type: 'text', text: call.prompt }];
  if (call.image) content.unshift({ type: 'file', mediaType: 'image/png', data: call.image });
  const params = {
    model: aiModels[call.format](call),
    maxRetries: 0,
    messages: [{ role: 'user', content }],
    maxOutputTokens: call.max_tokens || undefined,
    providerOptions: call.level ? aiLevel[call.format] : call.think ? aiThinking[call.format] : {},
  };
  if (call.tools) {
    params.stopWhen = stepCountIs(maxRounds);
    params.tools = Object.fromEntries(toolbox.map(([name, property]) => [name, aiTool({
      description: 'Does it.',
      inputSchema: z.object({ [property]: z.string() }),
      execute: (args) => runTool(reply, name, args),
    })]));
  }
  let result;
  if (call.stream) {
    let failure;
    result = streamText({ ...params, onError: () => {} });
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') reply.text += part.text;
      if (part.type === 'error') failure ??= part.error;
    }
    if (failure) throw failure;
  } else {
    result = await generateText(params);
  }
  const steps = await result.steps;
  const last = steps.at(-1);
  reply.text = last.text;
  reply.thinking = last.reasoningText ?? '';
  reply.input = last.usage.inputTokens ?? 0;
  reply.output = last.usage.outputTokens ?? 0;
  reply.warnings = steps.flatMap((s) => s.warnings ?? []).map((w) => w.message ?? JSON.stringify(w));
}

const langchainModels = {
  messages: (call) => new ChatAnthropic({
    model: 'claude-sonnet-4-5',
    anthropicApiUrl: call.base_url,
    apiKey: call.key,
    maxRetries: 0,
    maxTokens: call.max_tokens || 4096,
    ...(call.think && { thinking: { type: 'enabled', budget_tokens: 2048 } }),
  }),
  google: (call) => new ChatGoogleGenerativeAI({
    model: 'gemini-3-pro-preview',
    baseUrl: call.base_url,
    apiKey: call.key,
    maxRetries: 0,
    ...(call.level ? { thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' } } : call.think && { thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 } }),
  }),
};

// langchainText returns the texts of a message, or its thinking.
function langchainText(message, thinking) {
  if (typeof message.content === 'string') return thinking ? '' : message.content;
  return message.content.map((b) => (thinking ? b.thinking ?? b.reasoning ?? '' : b.type === 'text' ? b.text : '')).join('');
}

// LangChain, with the loop of its documentation.
async function langchain(call, reply) {
  const content = [{ type: 'text', text: call.prompt }];
  if (call.image) content.unshift({ type: 'image_url', image_url: { url: `data:image/png;base64,${call.image}` } });
  const messages = [new HumanMessage({ content })];
  let model = langchainModels[call.format](call);
  const tools = Object.fromEntries((call.tools ? toolbox : []).map(([name, property]) => [name, langchainTool(
    (args) => runTool(reply, name, args),
    { name, description: 'Does it.', schema: z.object({ [property]: z.string() }) },
  )]));
  if (call.tools) model = model.bindTools(Object.values(tools));
  for (let round = 0; round < maxRounds; round++) {
    let message;
    if (call.stream) {
      for await (const chunk of await model.stream(messages)) {
        message = message ? message.concat(chunk) : chunk;
        reply.text = langchainText(message, false);
      }
    } else {
      message = await model.invoke(messages);
    }
    messages.push(message);
    reply.text = langchainText(message, false);
    reply.thinking = langchainText(message, true);
    reply.input = message.usage_metadata?.input_tokens ?? 0;
    reply.output = message.usage_metadata?.output_tokens ?? 0;
    if (!message.tool_calls?.length) return;
    for (const c of message.tool_calls) messages.push(await tools[c.name].invoke(c));
  }
  throw new Error('the loop does not end');
}

const libraries = { runner, ai, langchain };

async function ask(call) {
  const reply = { text: '', thinking: '', calls: [], warnings: [], input: 0, output: 0 };
  try {
    await libraries[call.library](call, reply);
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
