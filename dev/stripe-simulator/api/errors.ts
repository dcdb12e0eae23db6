/** The body of a refusal, as Stripe sends it under `error`. */
export interface ErrorBody {
  readonly type: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
  readonly message: string;
  readonly code?: string;
  readonly param?: string;
  readonly decline_code?: string;
  readonly charge?: string;
}

/** A refusal on its way to becoming an HTTP answer. */
export class StripeFault extends Error {
  readonly status: number;
  readonly body: ErrorBody;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.body = body;
  }
}

/** 400: the request can't be carried out as it stands. */
export function invalidRequest(
  message: string,
  details: { code?: string; param?: string } = {},
): StripeFault {
  return new StripeFault(400, { type: 'invalid_request_error', message, ...details });
}

/** 404: the object that the path names doesn't exist. */
export function resourceMissing(noun: string, id: string, param = 'id'): StripeFault {
  return new StripeFault(404, missing(noun, id, param));
}

/** 400: an object that a parameter names doesn't exist. */
export function referenceMissing(noun: string, id: string, param: string): StripeFault {
  return new StripeFault(400, missing(noun, id, param));
}

function missing(noun: string, id: string, param: string): ErrorBody {
  return {
    type: 'invalid_request_error',
    code: 'resource_missing',
    message: `No such ${noun}: '${id}'`,
    param,
  };
}

export function unauthorized(message: string): StripeFault {
  return new StripeFault(401, { type: 'invalid_request_error', message });
}

export function unknownPath(method: string, path: string): StripeFault {
  return new StripeFault(404, {
    type: 'invalid_request_error',
    message: `Unrecognized request URL (${method}: ${path}).`,
  });
}

export function keyReused(key: string): StripeFault {
  return new StripeFault(400, {
    type: 'idempotency_error',
    message:
      'Keys for idempotent requests can only be used with the same parameters they were first used with. ' +
      `Try using a key other than '${key}' if you meant to execute a different request.`,
  });
}

export function keyInUse(): StripeFault {
  return new StripeFault(409, {
    type: 'invalid_request_error',
    code: 'idempotency_key_in_use',
    message:
      'There is currently another in-progress request using this Idempotent Key ' +
      '(that probably means you submitted twice, and the other request is still going through).',
  });
}
