package scenario

func init() {
	register("ledger", "Shows the leftovers at this point, and the calls that left them. The step never fails; use expect: {leftovers: none} for that.", `
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
