// What tools, prompts and resources answer with.
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
export const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export const text = (line) => ({ type: 'text', text: line });
export const image = { type: 'image', data: PNG, mimeType: 'image/png' };
export const audio = { type: 'audio', data: WAV, mimeType: 'audio/wav' };
export const embedded = (uri, mimeType, content) => ({ type: 'resource', resource: { uri, mimeType, text: content } });

/** says is the result of a tool that has one line to say. */
export const says = (line) => ({ content: [text(line)] });

/** fields is the schema of an object with these properties, all of them required. */
export const fields = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });
