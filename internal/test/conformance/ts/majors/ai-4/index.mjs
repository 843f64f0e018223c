export * from 'ai';
export { createAnthropic } from '@ai-sdk/anthropic';
export { createGoogleGenerativeAI } from '@ai-sdk/google';
export { createOpenAI } from '@ai-sdk/openai';
export { z } from 'zod';
