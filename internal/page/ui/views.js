// Which views there are, by the first part of the hash, in the order of the navigation.
import * as maystop from "./views/maystop.js";
import * as instances from "./views/instances.js";
import * as tasks from "./views/tasks.js";
import * as queues from "./views/queues.js";
import * as berths from "./views/berths.js";
import * as sessions from "./views/sessions.js";
import * as troubles from "./views/troubles.js";
import * as explain from "./views/explain.js";
import * as settings from "./views/settings.js";

// A view has title(route), load(route, signal) and show(data, {route, status}).
export const views = [
  { name: "", label: "May it stop?", view: maystop },
  { name: "instances", label: "Instances", view: instances },
  { name: "tasks", label: "Tasks", view: tasks },
  { name: "queues", label: "Queues", view: queues },
  { name: "berths", label: "Berths", view: berths },
  { name: "sessions", label: "Sessions", view: sessions },
  { name: "explain", label: "Explain", view: explain },
  { name: "settings", label: "Settings", view: settings },
  { name: "troubles", view: troubles },
];
