package scenario

import (
	"encoding/json"
	"slices"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// loopback matches a TCP address on loopback with its port.
var loopback = lazyregexp.New(`\b127(?:\.[0-9]{1,3}){3}:[0-9]{1,5}\b|\blocalhost:[0-9]{1,5}\b|\[::1\]:[0-9]{1,5}\b`)

// Loopback returns the addresses on loopback, such as "127.0.0.1:9000", that the scenario and the
// profiles of its drivers name anywhere: in commands, environments, parameters and Secrets. They
// are sorted.
func (s *Scenario) Loopback() []string {
	named := []any{s}
	for _, o := range s.objects {
		named = append(named, o.Object)
	}
	for _, d := range s.Drivers {
		named = append(named, d.profile)
	}
	return LoopbackIn(named...)
}

// LoopbackIn returns the addresses on loopback in any field of the values, sorted.
func LoopbackIn(values ...any) (addresses []string) {
	for _, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			continue // a value without a JSON form names nothing
		}
		addresses = append(addresses, loopback().FindAllString(string(text), -1)...)
	}
	slices.Sort(addresses)
	return slices.Compact(addresses)
}
