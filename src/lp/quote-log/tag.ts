/**
 * A number for an id, to look for it among many: twenty thousand texts lie all over memory and are waited for
 * one by one, their tags lie side by side.
 */

/**
 * Equal for equal ids, and different for nearly all others; whoever finds an equal one compares the ids. The
 * end of an id tells most: ids count up, or are hashes.
 */
export function tagOf(id: string): number {
  let tag = id.length;
  for (let at = Math.max(0, id.length - TAIL); at < id.length; at += 1)
    tag = (Math.imul(tag, 31) + id.charCodeAt(at)) | 0;
  return tag;
}

const TAIL = 8;
