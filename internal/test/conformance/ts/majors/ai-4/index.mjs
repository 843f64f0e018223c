export * from 'ai';
export { createAnthropic } from '@ai-sdk/anthropic';
export { createGoogleGenerativeAI } from '@ai-sdk/google';
export { z } from 'zod';
