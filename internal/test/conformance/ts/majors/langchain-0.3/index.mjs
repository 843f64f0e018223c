export { ChatAnthropic } from '@langchain/anthropic';
export { HumanMessage } from '@langchain/core/messages';
export { tool } from '@langchain/core/tools';
export { ChatGoogleGenerativeAI } from '@langchain/google-genai';
export { ChatOpenAI } from '@langchain/openai';
export { z } from 'zod';
