// The route and the client of AI SDK's chatbot template, without its page and its database: a tool that
// the user approves, a tool that asks the model for a document, a title, and saved messages. It prints
// the parts of each message of the assistant.
import {
  convertToModelMessages, createUIMessageStream, createUIMessageStreamResponse, DefaultChatTransport, generateId, generateText,
  readUIMessageStream, stepCountIs, streamText, tool,
} from 'ai';
import { createOpenAI } from '@ai-sdk/openai';
import { z } from 'zod';

const [url, apiKey, ...prompts] = process.argv.slice(2);
const model = createOpenAI({ baseURL: `${url}/v1`, apiKey })('gpt-5.6');
const saved = [];

const toolsWith = (writer) => ({
  getWeather: tool({
    description: 'Get the weather.', inputSchema: z.object({ city: z.string() }), needsApproval: true,
    execute: async () => ({ temperature: 21 }),
  }),
  createDocument: tool({
    description: 'Create a document.', inputSchema: z.object({ title: z.string() }),
    execute: async ({ title }) => {
      const { fullStream } = streamText({ model, system: 'Write about the topic.', prompt: title });
      for await (const part of fullStream) if (part.type === 'text-delta') writer.write({ type: 'data-textDelta', data: part.text });
      return { content: 'The document was created.' };
    },
  }),
});

async function POST(request) {
  const { message, messages } = await request.json();
  const all = messages ?? [...saved, message];
  if (message) saved.push(message);
  const stream = createUIMessageStream({
    originalMessages: messages,
    execute: async ({ writer }) => {
      const result = streamText({
        model, system: 'You are a friendly assistant!', messages: await convertToModelMessages(all), stopWhen: stepCountIs(5), tools: toolsWith(writer),
        providerOptions: { openai: { reasoningEffort: 'medium', reasoningSummary: 'auto' } },
      });
      writer.merge(result.toUIMessageStream({ sendReasoning: true }));
      if (saved.length === 1) {
        const title = await generateText({ model, system: 'Write a title.', prompt: JSON.stringify(message) });
        writer.write({ type: 'data-title', data: title.text });
      }
    },
    generateId,
    onFinish: ({ messages: finished }) => {
      for (const m of finished) {
        const at = saved.findIndex((s) => s.id === m.id);
        saved.splice(at < 0 ? saved.length : at, at < 0 ? 0 : 1, m);
      }
    },
    onError: (e) => { process.exitCode = 1; console.error(e); return 'failed'; },
  });
  return createUIMessageStreamResponse({ stream });
}

const transport = new DefaultChatTransport({
  api: 'http://chatbot/api/chat',
  fetch: async (input, init) => POST(new Request(input, init)),
  prepareSendMessagesRequest: ({ messages }) => ({ body: messages.at(-1).role === 'user' ? { message: messages.at(-1) } : { messages } }),
});

async function send(messages) {
  const before = messages.at(-1).role === 'assistant' ? messages.pop() : undefined;
  const stream = await transport.sendMessages({ chatId: 'c', messages: before ? [...messages, before] : messages, trigger: 'submit-message' });
  let last = before;
  for await (const m of readUIMessageStream({ message: before, stream })) last = m;
  return [...messages, last];
}

let chat = [];
for (const text of prompts) {
  chat = await send([...chat, { id: generateId(), role: 'user', parts: [{ type: 'text', text }] }]);
  for (const part of chat.at(-1).parts.filter((p) => p.state === 'approval-requested')) {
    Object.assign(part, { state: 'approval-responded', approval: { ...part.approval, approved: true } });
    chat = await send(chat);
  }
  const parts = chat.at(-1).parts.filter((p) => !p.type.startsWith('data-'));
  console.log(parts.map((p) => [p.type, p.text ?? JSON.stringify(p.output)].filter(Boolean).join(' ')).join(', '));
  console.log(chat.at(-1).parts.filter((p) => p.type.startsWith('data-')).map((p) => p.data).join(''));
}
