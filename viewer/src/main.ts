import { App } from "./view/app";
import "./style.css";

void new App(document.body).start();
