package scenario

// objectFailure says that a condition on objects does not hold.
func objectFailure(r *runner, o *ObjectCondition) (*Failure, error) {
	holds, got, err := o.look(r.store())
	if holds || err != nil {
		return nil, err
	}
	return &Failure{
		Verdict: o.Reference.String() + " is not as expected", Expected: o.String(), Got: got,
		about: r.lastAbout(o.Reference),
	}, nil
}
