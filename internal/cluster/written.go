package cluster

import "slices"

// KeepWritten collects the changes of programs, before their machines are closed.
func (all *Machines) KeepWritten() error {
	for _, disk := range all.disks {
		changes, err := disk.Written()
		if err != nil {
			return err
		}
		for _, change := range changes {
			if line := disk.Name() + ": " + change; !slices.Contains(all.Written, line) {
				all.Written = append(all.Written, line)
			}
		}
	}
	return nil
}
