// Package renewal is about records that prove, by being renewed, that their writers live: Record is one that this process writes, Watch and
// Watches tell by its own timers for how long others have not been written anew. Such a record expires by the store's clock as well: one that
// was set back has the dead live on.
package renewal
