// writing.mjs PROTOCOL URL: for each line of its input, reads a stream from the server by the vendor's own helper, and prints a line with
// the message that it put together, or the error.
import readline from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

const [protocol, url] = process.argv.slice(2);
const anthropic = new Anthropic({ apiKey: "k", baseURL: url, maxRetries: 0 });
const openai = new OpenAI({ apiKey: "k", baseURL: `${url}/v1`, maxRetries: 0 });
const messages = [{ role: "user", content: "x" }];

const read = {
  anthropic: () => anthropic.messages.stream({ model: "m", max_tokens: 9, messages }).finalMessage(),
  responses: () => openai.responses.stream({ model: "m", input: "x" }).finalResponse(),
  chat: async () => {
    const stream = openai.chat.completions.stream({ model: "m", messages });
    // The helper does not join a member that OpenAI has not.
    let thoughts = "";
    stream.on("chunk", (chunk) => {
      for (const { index, delta } of chunk.choices) if (index === 0) thoughts += delta.reasoning_content ?? "";
    });
    const completion = await stream.finalChatCompletion();
    if (thoughts) completion.choices[0].message.reasoning_content = thoughts;
    return completion;
  },
}[protocol];

for await (const _ of readline.createInterface({ input: process.stdin })) {
  const answer = await read().then((message) => ({ message }), (error) => ({ error: String(error) }));
  console.log(JSON.stringify(answer));
}
