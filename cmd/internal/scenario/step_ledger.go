package scenario

func init() {
	register("ledger", "Shows what is left behind at this point, and which calls are to blame. It fails nothing: that is for expect: {leftovers: none}.", `
ledger: {}
`, &ledgerStep{})
}

// ledgerStep shows the leak ledger.
type ledgerStep struct{}

func (*ledgerStep) check(*checker) {}

func (*ledgerStep) do(r *runner) error {
	found := r.cluster.Ledger()
	for _, line := range append(append(lines("", found.Leaks), lines("", found.Litter)...), unseen(found)...) {
		r.say(line)
	}
	return nil
}
