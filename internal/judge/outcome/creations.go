package outcome

// Creations counts CreateVolume calls.
type Creations struct{ Begun, Ended int }

// Several reports whether several creations are in progress.
func (c Creations) Several() bool { return c.Begun-c.Ended > 1 }

// Creations counts the CreateVolume calls of a driver.
func (j *Judge) Creations(driver string) Creations { return j.creations[driver] }

// Count counts the call if it creates a volume. The returned function counts its end.
func (j *Judge) Count(c Call) (ended func()) {
	if c.Method() != "Controller/CreateVolume" {
		return func() {}
	}
	count := func(begun, ended int) {
		m := j.creations[c.Driver()]
		j.creations[c.Driver()] = Creations{m.Begun + begun, m.Ended + ended}
	}
	count(1, 0)
	return func() { count(0, 1) }
}
