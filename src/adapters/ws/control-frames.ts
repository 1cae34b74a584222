/** Limits the control frames of a connection, because each ping costs an answer. */

export const MAX_CONTROL_FRAMES_PER_SECOND = 50;
