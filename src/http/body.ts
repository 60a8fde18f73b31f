/** Does the client take gzip, by its Accept-Encoding header (RFC 9110, 12.5.3)? */
export function acceptsGzip(header: string | undefined): boolean {
  let gzip: number | undefined;
  let any = 0;
  for (const item of header?.split(',') ?? []) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const weight = quality(parameters);
    if (coding === 'gzip' || coding === 'x-gzip') gzip = Math.max(gzip ?? 0, weight);
    else if (coding === '*') any = weight;
  }
  return (gzip ?? any) > 0;
}

// A weight that can't be read counts as refusal: plain text is always understood.
function quality(parameters: readonly string[]): number {
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  if (weight === undefined) return 1;
  return /^q=(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight.slice(2)) : 0;
}

/**
 * A stream of shared chunks, none of them copied or queued before the reader takes it. `onEnd` is called
 * once, when the last was taken or the reader is gone.
 */
export function streamOf(chunks: readonly Uint8Array[], onEnd: () => void): ReadableStream<Uint8Array> {
  const rest = chunks.values();
  return new ReadableStream(
    {
      pull(controller) {
        const { done, value } = rest.next();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        controller.close();
        onEnd();
      },
      cancel: onEnd,
    },
    { highWaterMark: 0 },
  );
}
