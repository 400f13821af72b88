/**
 * EventLog is an event store for SDK v1 that knows which stream an event belongs to, so that
 * the SDK refuses an unknown event (400) and a stream that somebody reads already (409). The
 * SDK's example store, with which it does neither, sorts events of one millisecond by chance.
 */
export class EventLog {
  #streams = new Map();

  async storeEvent(streamId, message) {
    const events = this.#streams.get(streamId) ?? [];
    this.#streams.set(streamId, events);
    events.push(message);
    return `${streamId}_${events.length - 1}`;
  }

  async getStreamIdForEventId(eventId) {
    const { streamId, index } = parse(eventId);
    return index < (this.#streams.get(streamId)?.length ?? 0) ? streamId : undefined;
  }

  async replayEventsAfter(lastEventId, { send }) {
    const { streamId, index } = parse(lastEventId);
    const events = this.#streams.get(streamId) ?? [];
    for (let i = index + 1; i < events.length; i++) await send(`${streamId}_${i}`, events[i]);
    return streamId;
  }
}

function parse(eventId) {
  const end = eventId.lastIndexOf('_');
  return { streamId: eventId.slice(0, end), index: Number(eventId.slice(end + 1)) };
}
