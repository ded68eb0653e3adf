package verdict

// Idempotent is the key of the invariant in this file.
const Idempotent Key = "idempotent"

var idempotent = &Invariant{
	Name:   Idempotent,
	Holds:  "a repeated call has no further effect and gets the same answer",
	Reason: "callers repeat a call if they did not receive its answer: a driver that executes it twice leaks, and one that rejects it blocks the caller for ever",
	Rules:  []string{"CSI spec: RPC interactions, Idempotency"},
	Blame:  Driver,
	Rank:   Breach,
}
