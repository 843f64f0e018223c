export * from '@openai/agents';
export { OpenAI } from 'openai';
export { z } from 'zod';
