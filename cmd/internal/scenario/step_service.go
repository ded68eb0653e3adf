package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/driver/standin"
)

func init() {
	register("fail-service", "Makes a service fail for which a driver's profile has a stand-in: a file server, a cloud.",
		`fail-service: {operation: mount, times: 2}`, &failServiceStep{})
	register("recover-services", "Ends all failures of the services of a driver's profile.",
		`recover-services: {}`, &recoverServicesStep{})
}

type failServiceStep struct {
	Driver    string `json:"driver,omitempty" doc:"The driver with the stand-in in its profile; default the only one."`
	Operation string `json:"operation" want:"required" example:"mount" doc:"The operation that fails: for example mount of nfs, attach of openstack, GET /volumes of http. The error for a wrong name lists all operations."`
	Times     uint   `json:"times,omitempty" doc:"The number of failures; default always, until recover-services."`
	Code      int    `json:"code,omitempty" doc:"The exit code or HTTP status; default the operation's usual one."`
	Message   string `json:"message,omitempty" doc:"The error's message; default the operation's usual one."`
}

func (s *failServiceStep) check(c *checker) {
	known := c.services(s.Driver)
	if s.Operation != "" && known != nil && !slices.Contains(known, s.Operation) {
		c.document.ReportUnknown(c.in("operation"), fmt.Sprintf("operation %q", s.Operation), s.Operation,
			"an operation of the driver's stand-ins: "+strings.Join(known, ", "), known)
	}
}

func (s *failServiceStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	return cluster.FailStandIn(r.driver(s.Driver), standin.Failure{
		Operation: s.Operation, Message: s.Message, Code: s.Code, Times: int(s.Times),
	})
}

type recoverServicesStep struct {
	Driver string `json:"driver,omitempty" doc:"The driver with the stand-ins in its profile; default the only one."`
}

func (s *recoverServicesStep) check(c *checker) { c.services(s.Driver) }

func (s *recoverServicesStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	return cluster.RecoverStandIns(r.driver(s.Driver))
}

// services checks that a driver has stand-ins and lists their operations.
func (c *checker) services(driver string) []string {
	c.driver("driver", driver)
	for _, d := range c.scenario.Drivers {
		if driver != "" && d.name() != driver {
			continue
		}
		operations := d.standIns().Operations()
		if operations == nil && d.name() != "" {
			c.report("driver", fmt.Sprintf("driver %q", d.name()), "a driver that has a stand-in, such as nfs")
		}
		return operations
	}
	return nil
}
