export * from '@google/generative-ai';
