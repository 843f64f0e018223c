export * from '@google/genai';
