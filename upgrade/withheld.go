package upgrade

import "berth/upgrade/ledger"

// withheldSpare is how long after the time that is given for it a task is still taken for
// withheld of which nothing else is heard: the steps of its creation come before that time,
// and those by which it is forgotten after it.
const withheldSpare = 2 * ledger.StoreTime
