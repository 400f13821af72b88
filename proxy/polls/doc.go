// Package polls answers tasks/get without asking the task's owner: by the answer to another
// poll (Shared), or from a stale cache while the owner does not answer (StaleCache).
//
// It promises that nobody is given an answer to another question than his own, to which all
// headers belong, nor one that was asked for before a change which was acknowledged by then,
// as far as the store can say. It sends nothing to upstreams. A poll that nobody shares
// costs an entry in a table and a context: what it asks is digested once a second poll of its
// task is there, or its answer is kept. A poll that shares reads its task's mark in the store.
package polls
