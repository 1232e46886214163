"""One small repository for each TypeScript construct through which a symbol can be used.

A line that ends in `// use` is an exact use of the symbol in the case's title, one that ends in
`// inferred` an inferred one, through an undeclared result; no other line is a use.
"""

import json
import os
import sys

import pytest
from codegraph.python_api import CodeGraph, build_graph_for_repo, tool_rag_where_used
from codegraph.read.languages import read_facts
from hypothesis import given
from hypothesis import strategies as st
from marked_lines import cases, marked, sure_uses

pytest.importorskip("tree_sitter_typescript", reason="the extra `typescript` is not installed")

CASES = """
=== a function by a named import | web.mail.send
--- web/mail.ts
export function send(to: string) { return to; }
send("a"); // use
--- web/app.ts
import { send, other as post } from "./mail"; // use
function f(send: () => void) {
  send();
}
function g() {
  return send("b"); // use
}
const h = { send }; // use
--- web/deep/page.tsx
import { send as go } from "../mail.js"; // use
export const Page = () => <button onClick={() => go("x")}>Go</button>; // use
--- web/else.ts
import { send } from "mailer";
send("c");
=== a default import and one of the module | lib.draw
--- lib/index.ts
const draw = (x: number) => x;
export default draw; // use
export { draw, draw as paint }; // use
--- a.ts
import sketch from "./lib"; // use
import * as lib from "./lib";
import { paint } from "./lib"; // use
sketch(1); // use
lib.draw(2); // use
paint(3); // use
=== a name that another module passes on | a.Base
--- a.ts
export class Base {}
--- b.ts
export { Base } from "./a"; // use
export * from "./a";
--- c.ts
import { Base } from "./b"; // use
class Child extends Base {} // use
const made: Base = new Base(); // use
=== files that import from one that passes on all of them | add.add
--- src/index.ts
export * from "./add";
export * from "./sum";
--- src/sum.ts
import { add, sum as itself } from "./index"; // use
export const sum = (xs: number[]) => xs.reduce(add); // use
--- src/add.ts
import { sum } from "./index";
export const add = (a: number, b: number) => a + b;
=== a method, by this, by a declared type and by new | a.Store.save
--- a.ts
export class Store {
  save(x: number) { return x; }
  again() { [1].map((x) => this.save(x)); } // use
}
export class Other { save() {} }
--- b.ts
import { Store, Other } from "./a";
class Page {
  private other: Other = new Other();
  constructor(private readonly store: Store, rest: Store[]) {
    this.store.save(1); // use
    this.other.save();
    for (const one of rest) one.save(2); // use
  }
}
function f(store: Store, unknown) {
  store.save(3); // use
  unknown.save(4);
  const made = new Store();
  made.save(5); // use
}
=== what a function gives back without saying so | a.Store.save
--- a.ts
class Store { save() {} }
function open() { return new Store(); }
function close(): Store { return new Store(); }
open().save(); // inferred
close().save(); // use
=== a method that a subclass inherits | a.Base.run
--- a.ts
class Base { run() {} }
class Child extends Base { go() { this.run(); } } // use
new Child().run(); // use
=== an interface | a.Named
--- a.ts
export interface Named { name: string; }
class A implements Named { name = "a"; } // use
function f(one: Named | null): Named { return one!; } // use
=== a type that is declared for a function or a class | a.Named
--- a.ts
export interface Named { (name: string): void; }
const one: Named = (name) => {}; // use
const two: Box<Named> = class {}; // use
class A {
  three: Named = function () {}; // use
}
=== a constant as the name of a member | a.KEY
--- a.ts
export const KEY = "key";
class A {
  [KEY]() {} // use
  static [KEY] = 1; // use
}
const one = { [KEY]() {}, other: 1 }; // use
const two = { [KEY]: 1 }; // use
interface B { [KEY]: string; } // use
function f(): { [KEY]: true } {} // use
=== this in a function that has its own | a.Store.save
--- a.ts
export class Store {
  save() {}
  go() {
    [1].forEach(() => { this.save(); }); // use
    [1].forEach(function () { this.save(); });
    function inner() { return this.save(); }
  }
}
function outer(this: Store) { this.save(); } // use
=== a field of an interface | a.Named.title
--- a.ts
interface Named { title: string; }
function f(one: Named, other: any) {
  return one.title + other.title; // use
}
=== a member of an enumeration | a.Colour.Red
--- a.ts
enum Colour { Red, Green = 2 }
const c = Colour.Red; // use
const d = Colour.Green;
=== a constant of a module | a.LIMIT
--- a.ts
export const LIMIT = 3;
--- b.ts
import { LIMIT } from "./a"; // use
if (1 < LIMIT) { let LIMITS = LIMIT; } // use
=== a type from a declaration file | t.Options
--- t.d.ts
export interface Options { name: string }
--- a.ts
import type { Options } from "./t"; // use
const f = (o: Options) => o.name; // use
=== types that a module passes on as types alone | a.Options
--- a.ts
export interface Options { name: string }
--- b.ts
export type * from "./a";
--- c.ts
import type { Options } from "./b"; // use
const f = (o: Options) => o.name; // use
=== a function that is declared, with overloads | a.parse
--- a.ts
declare function parse(text: string): void;
declare function parse(text: number): void;
parse("1"); // use
=== a module under a name, passed on or required | a.add
--- a.ts
export function add() {}
--- b.ts
export * as sums from "./a";
--- c.ts
import { sums } from "./b";
import a = require("./a");
sums.add(); // use
a.add(); // use
=== decorators | a.Field
--- a.ts
export function Field(of?: unknown): any {}
--- b.ts
import { Field } from "./a"; // use
@Field // use
class Row {
  @Field name = ""; // use
  @Field() get() {} // use
  constructor(@Field() private id: number) {} // use
}
@Field() // use
export class Table {}
=== the index of a folder by its full name | ui.Button
--- ui/index.tsx
export const Button = () => null;
--- a.tsx
import { Button } from "./ui/index"; // use
const page = <Button />; // use
=== a module seen from the source root | lib.sums.add
--- src/lib/sums.ts
export function add() {}
--- src/app/page.tsx
import { add } from "@/lib/sums"; // use
import * as sums from "~/lib/sums";
add(); // use
sums.add(); // use
=== a module by an alias of the configuration | core.src.sums.add
--- core/src/sums.ts
export function add() {}
--- core/src/index.ts
export * from "./sums"; // nothing
--- config/base.json
{"compilerOptions": {"baseUrl": "nowhere"}}
--- config/tsconfig.base.json
{"compilerOptions": {"baseUrl": ".."}}
--- web/tsconfig.json
{ // JSON with comments, /* and */ "commas"
  "extends": "../config/tsconfig.base",
  "compilerOptions": {
    "paths": {
      "@core": ["core/src/index.ts"], /* the root of what is extended */
      "@core/*": ["nowhere/*", "core/src/*"],
      "@core/only/*": ["only/*"],
    },
  },
}
--- web/src/a.ts
import { add } from "@core"; // use
import { add as plus } from "@core/sums"; // use
import { add as other } from "@core/only/sums";
import * as sums from "core/src/sums";
add(); // use
plus(); // use
other();
sums.add(); // use
--- else.ts
import { add } from "@core";
add();
=== a module in the root of the repository | lib/sums.ts:add
--- lib/sums.ts
export function add() {}
--- index.ts
export { add } from "./lib/sums"; // use
--- lib/deep/a.test.ts
import { add } from "../.."; // use
import { add as plus } from "../../lib/sums"; // use
add(); // use
plus(); // use
=== names in blocks, of functions and of types | a.get
--- a.ts
export function get() {}
export function _hidden() {}
--- b.ts
import { get } from "./a"; // use
const api = { get() { get(); } }; // use
type Props = { get: string; set(get: number): void };
interface Other { get: string }
let done: (get: string) => void;
class Box<get> { held?: get; }
const A = class { get() {} };
declare module "x" { function get(): void; }
function shadow(get: () => void) {
  get();
  [1].map((x) => get());
}
try { shadow(get); } catch (get) { console.log(get); } // use
{ const get = 1; console.log(get); }
for (const get of [1]) console.log(get);
for (let get = 0; get < 1; get++) console.log(get);
switch (1) { case 1: const get = 3; console.log(get); }
function late() {
  get();
  const { x: get, y = 1 } = other();
}
if (done) { get(); } // use
const { z = get } = api; // use
=== var and let, and a function that stands before what it names | a.Store.add
--- a.ts
export class Store { add() {} }
export class Other { add() {} }
function f(flag: boolean) {
  const early = () => { kept.add(); }; // use
  let one = new Other();
  if (flag) {
    var found = new Store();
    let one = new Store();
    one.add(); // use
    function inner() { one.add(); } // use
  }
  found.add(); // use
  one.add();
  const kept = new Store();
}
=== a method, whatever a block binds | a.Store.add
--- a.ts
export class Store { add() { return this; } }
class Logged extends Store { add() { return super.add(); } } // use
export class Other { add() {} }
--- b.ts
import { Store, Other } from "./a";
type Props = { store: Store; other: Other };
function f({ store, other: { add } }: Props, p: Props, m: Map<string, Store>, b: Box<Store>) {
  store.add(); // use
  const { store: s } = p;
  s.add().add(); // use
  m.get("x").add(); // use
  b.held.add(); // use
}
class Box<T> { constructor(public held: T) {} }
function g(on: boolean, all: Store[]) {
  if (on) {
    const one = new Store();
    one.add(); // use
  } else {
    const one = new Other();
    one.add();
  }
  for (const one of all) one.add(); // use
  all[0].add(); // use
  (all as any).add();
}
async function made(): Promise<Store> { return new Store(); }
async function h() { (await made()).add(); } // use
function bound<T extends Store>(one: T) { one.add(); } // use
function fixed(all: readonly Store[]) { all[0].add(); } // use
=== a field with the name of a type parameter | a.Box.Held
--- a.ts
export interface Box<Held> { Held: Held }
--- b.ts
import { Box } from "./a";
export const f = (box: Box<string>) => box.Held; // use
=== what a module exports without a name | a.default
--- a.ts
export default function () {}
--- b.ts
import run from "./a"; // use
run(); // use
=== a module that is loaded when it is needed | a.add
--- a.ts
export function add() {}
--- b.ts
const sums = require("./a");
sums.add(); // use
async function f() {
  const { add: plus } = await import("./a"); // use
  plus(); // use
}
=== a constant and a type of one name | a.Kind
--- a.ts
export const Kind = { A: 1 } as const;
export type Kind = keyof typeof Kind;
--- b.ts
import { Kind } from "./a"; // use
export function f(kind: Kind) { return Kind.A; } // use
=== what begins with an underscore is passed on too | a._get
--- a.ts
export function _get() {}
export default function main() {}
--- b.ts
export * from "./a";
--- c.ts
import { _get } from "./b"; // use
_get(); // use
=== a module of a barrel has a name of its own that it does not export | a.fmt
--- a.ts
export function fmt() {}
--- b.ts
function fmt() {}
export namespace Inner { export const x = 1; }
export function other() { fmt(); }
--- c.ts
import { fmt } from "./z";
export const more = fmt;
--- index.ts
export * from "./a";
export * from "./b";
export * from "./mid";
--- mid.ts
export * from "./c";
export const another = 1;
--- d.ts
import { fmt, other } from "./index"; // use
fmt(); // use
=== every way to export is passed on by a barrel | d.all
--- a.ts
const one = 1, two = 2;
export { one, two as deux };
export type T = string;
export interface I {}
export enum E { A }
export abstract class C {}
export declare const D: number;
export namespace N { export const x = 1; }
export const [p, { q }] = make();
export { z as zed } from "./z";
export * as zs from "./z";
--- z.ts
export const z = 1;
--- index.ts
export * from "./a";
--- c.ts
import { one, deux, T, I, E, C, D, N, p, q, zed, zs } from "./index";
import { all } from "./d"; // use
all(one, deux, E.A, C, D, N.x, p, q, zed, zs.z); // use
--- d.ts
export function all(...xs: unknown[]) {}
=== the same: a constant | a.one
--- a.ts
const one = 1, two = 2;
export { one, two as deux }; // use
--- index.ts
export * from "./a";
--- c.ts
import { deux, one } from "./index"; // use
one; // use
=== the same: an enumeration through two barrels | a.E
--- a.ts
export type T = string;
export enum E { A }
--- mid.ts
export * from "./a";
export const other = 1;
--- index.ts
export * from "./mid";
--- c.ts
import { E } from "./index"; // use
const e = E.A; // use
=== this in a static method is the class | a.A.make
--- a.ts
export class A {
  static make() { return new this(); }
  static again() { return this.make(); } // use
}
class Other { static make() {} static again() { return this.make(); } }
class B extends A {
  static make() { return super.make(); } // use
}
A.make(); // use
=== containers that are made with their types, whatever is called list | a.Store.save
--- a.ts
class Store { save() {} }
class Other { save() {} }
class Box<T> {
  constructor(public held: T) {}
  get(): T { return this.held; }
  all(): T[] { return []; }
}
const box = new Box<Store>(open());
box.get().save(); // use
box.held.save(); // use
for (const one of box.all()) one.save(); // use
const map = new Map<string, Store>();
map.get("x")!.save(); // use
new Map<string, Other>().get("x")!.save();
for (const one of new Set<Store>()) one.save(); // use
const list: Array<Store> = [];
const dict: Store[] = list.filter(Boolean);
list[0].save(); // use
dict.find((x) => x === list.at(-1))?.save(); // use
list.slice(1).pop()?.save(); // use
=== a class that is named as a container | a.Map.get
--- a.ts
export class Map<K, V> { get(k: K): V { return open(k); } }
--- b.ts
import { Map } from "./a";
new Map<string, number>().get("x"); // use
function f(map: Map<string, number>) { map.get("x"); } // use
--- c.ts
new Map<string, number>().get("x");
=== object types without a name, and types made of others | a.Store.save
--- a.tsx
class Store { save() {} }
class Other { save() {} }
interface Props { store: Store; other: Other }
export function A({ store, other }: { store: Store; other?: Other }) {
  store.save(); // use
  other.save();
}
const b = ({ store }: { readonly store?: Store }) => store.save(); // use
function c(p: { store: Store; deep: { one: Other; two: Store } }): { made: Store } {
  p.store.save(); // use
  p.deep.one.save();
  p.deep.two.save(); // use
  c(p).made.save(); // use
}
function d(p: Pick<Props, "store">, q: Omit<Props, "x"> & { more: Store }) {
  p.store.save(); // use
  q.store.save(); // use
  q.other.save();
  q.more.save(); // use
}
function e(p: { Store: Other; save(): Store }) {
  p.Store.save();
  p.save();
}
=== the parts of a tuple | a.Store.save
--- a.ts
class Store { save() {} }
class Other { save() {} }
function pair(): [Store, Other] { return open(); }
const [a, b] = pair();
a.save(); // use
b.save();
function f(p: [Other, Store], [c, d]: readonly [first: Store, second?: Other]) {
  p[1].save(); // use
  p[0].save();
  c.save(); // use
  d.save();
}
=== what generators give | a.Store.save
--- a.ts
class Store { save() {} }
class Other { save() {} }
async function* read(): AsyncGenerator<Store> {}
function* logs(): Generator<Other, void> {}
async function f(all: IterableIterator<Store>, soon: AsyncIterable<Store>) {
  for await (const one of read()) one.save(); // use
  for await (const one of soon) one.save(); // use
  for (const one of logs()) one.save();
  for (const one of all) one.save(); // use
}
=== what a container gives to a callback | a.Cat.speak
--- a.ts
class Cat { speak() { return 1; } kitten!: Cat; }
class Dog { speak() { return 1; } kitten!: Dog; }
function f(all: Cat[], dogs: Dog[], set: Set<Cat>, map: Map<Cat, Dog>, own: Own<Cat>, ext: any) {
  all.map((one) => one.speak()); // use
  all.forEach(one => { one.speak(); }); // use
  all.filter((one) => one.speak()).map((one, index) => one.speak() + index.speak()); // use
  all.some(function (one) { return one.speak(); }); // use
  all.reduce((sum, one) => sum + one.speak(), 0); // use
  all.sort((a, b) => a.speak() - b.speak()); // use
  all.flatMap(({ kitten }) => kitten.speak()); // use
  all.map((one: Dog) => one.speak());
  all.map(wrapped((one) => one.speak()));
  set.forEach((one) => one.speak()); // use
  dogs.map((one) => one.speak());
  map.forEach((one) => one.speak());
  own.map((one) => one.speak());
  ext.map((one) => one.speak());
}
class Own<T> { map(f: (x: T) => void) {} }
=== one or the other | a.Cat.speak
--- a.ts
class Cat { speak() {} }
class Dog { speak() {} }
function f(cat?: Cat, dog?: Dog) {
  (cat ?? new Cat()).speak(); // use
  const one = dog || new Dog();
  one.speak();
  const two = cat ? cat : new Cat();
  two.speak(); // use
  const three = cat && dog;
  three.speak();
}
=== modules by the newer suffix | a.add
--- a.mts
export function add() {}
--- b.cts
import { add } from "./a.mjs"; // use
add(); // use
=== members of a namespace | a.Sums.add
--- a.ts
export namespace Sums {
  export function add() {}
  export function twice() { add(); } // use
}
--- b.ts
import { Sums } from "./a";
import * as a from "./a";
Sums.add(); // use
a.Sums.add(); // use
=== a constant of a namespace | a.Sums.ZERO
--- a.ts
namespace Sums {
  export const ZERO = 0;
  const other = ZERO; // use
}
const zero = Sums.ZERO; // use
=== what a getter gives, and a static method | a.Store.save
--- a.ts
class Store { save() {} }
class Page {
  get store(): Store { return this.found; }
  get found() { return new Store(); }
  static all(first) { first.save(); }
  go() {
    this.store.save(); // use
    this.found.save(); // inferred
  }
}
=== what a class fills in for the type parameter of its base | a.Store.save
--- a.ts
class Store { save() {} }
class Box<T> { held!: T; }
class Shop extends Box<Store> {
  go() { this.held.save(); } // use
}
class Bounded<T extends Store> {
  go(one: T) {
    const same: T = one;
    same.save(); // use
  }
}
=== names taken out of an object | a.send
--- a.ts
export const { send, other: [post = send] } = makeApi();
--- b.ts
import { send } from "./a"; // use
send(); // use
=== a value that is exported without a name | a.default
--- a.ts
export default { a: 1 };
--- b.ts
import settings from "./a"; // use
settings.a; // use
=== a function and a class whose names only they see | a.find
--- a.ts
function find() {}
export function make() {
  const one = class find {};
  register(function find() {});
  return find(); // use
}
=== a function and comments wherever they may stand | a.add
--- a.ts
export function add(x?: unknown): any { return x; }
--- b.ts
import Sums, /* all of */ { /* and */ add } from "./a"; // use
export /* again */ { /* it */ add as plus } from "./a"; // use
function f() {
  return ( // why
    add() // use
  );
}
async function g() { await /* soon */ add(); } // use
const h = /* one */ (/* two */ add()); // use
const one = <Kind>/* as */ add(); // use
const two = /* and */ add() /* as */ as /* a */ Kind; // use
=== a class in types with comments | a.Store.save
--- a.ts
class Store { save() {} }
function f(/* the store */ one: /* a */ Store, other: Store[] /* many */) {
  one.save(); // use
  other[0] // the first
    .save(); // use
}
const made = <Store>/* of */ open();
made.save(); // use
const cast = open() /* is */ as /* a */ Store;
cast.save(); // use
=== a parameter of a constructor that is a field too | a.Store.save
--- a.ts
class Store { save() {} }
class Page {
  constructor(@Inject() private readonly one: Store, override two: Store, private
    three: Store, four: Store) { super(); }
  go() {
    this.one.save(); // use
    this.two.save(); // use
    this.three.save(); // use
    this.four.save();
  }
}
=== a name that is another one outside | a.bigintType
--- a.ts
const bigintType = 1;
export { bigintType as bigint }; // use
let count: bigint;
--- b.ts
import { bigint } from "./a"; // use
=== a member of an object literal | tools.sharpen
--- a.ts
export const tools = {
  sharpen() { this.sharpen(); }, // use
  polish: 3,
} as const;
--- b.ts
import { tools } from "./a";
tools.sharpen(); // use
tools.polish;
=== a property of an object literal in another | api.users.list
--- a.ts
import { fetchAll } from "./f";
export const api = Object.freeze({ users: { "list": () => 1 }, fetchAll });
--- f.ts
export function fetchAll() {}
--- b.ts
import { api } from "./a";
api.users.list(); // use
api.fetchAll();
=== a function that an object literal names | fetchAll
--- a.ts
import { fetchAll } from "./f"; // use
export const api = { fetchAll }; // use
--- f.ts
export function fetchAll() {}
--- b.ts
import { api } from "./a";
api.fetchAll(); // use
=== an object literal with a declared type: the member of the type | I.go
--- a.ts
interface I { go(): void }
const x: I = { go() {} };
x.go(); // use
=== and that of the literal | x.go
--- a.ts
interface I { go(): void }
const x: I = { go() {} };
x.go(); // use
=== a type that an object literal satisfies | T
--- a.ts
type T = { go(): void };
export const x = { go() {} } satisfies T; // use
export default { y: { z: 1 } as T }; // use
const { go } = { go: 1 };
=== a member that an object literal takes from another | rest.r
--- a.ts
const rest = { r() {} };
export const tools = { ...rest, s: 1 };
tools.r(); // use
=== a member of a default object | gate.close
--- gate.ts
export default { close: () => 1 };
--- b.ts
import door from "./gate";
door.close(); // use
=== an anonymous default function by the name of its module | run
--- run.ts
export default () => 1;
--- b.ts
import start from "./run"; // use
start(); // use
=== a default export with a new name | Panel
--- index.ts
export { default as Panel } from "./x"; // use
--- x.ts
export default class {}
--- b.ts
import { Panel } from "."; // use
new Panel(); // use
=== what a test of the class tells | a.Cat.speak
--- a.ts
class Cat { speak() {} }
class Dog { speak() {} }
function f(x: Cat | Dog, y: unknown, all: (Cat | Dog)[]) {
  if (x instanceof Cat) {
    x.speak(); // use
    all.map((x) => x.speak()); // use
    [new Dog()].forEach((x: Dog) => x.speak());
  } else if (y instanceof Cat && y.speak()) { // use
    x.speak();
  } else x.speak();
  if (!(y instanceof Cat)) return;
  y.speak(); // use
  y = new Dog();
  y.speak();
}
function g(e: unknown) {
  e.speak();
  for (const one of e) {
    if (one instanceof Dog) continue;
    if (!(one instanceof Cat) || one.speak()) throw one; // use
    one.speak(); // use
  }
  try { e.speak(); } catch (e) {
    return e instanceof Dog ? e.speak() : (e instanceof Cat) && e.speak(); // use
  }
}
=== what a function tells that tests for a class | a.Cat.speak
--- a.ts
class Cat { speak() {} }
class Dog { speak() {} }
const isCat = (one: unknown): one is Cat => one instanceof Cat;
function isDog(one: unknown): one is Dog { return !isCat(one); }
class Guard { static is(one: unknown): one is Cat { return isCat(one); } }
function f(x: Cat | Dog, y: unknown, all: (Cat | Dog)[]) {
  if (isCat(x)) x.speak(); // use
  else x.speak();
  if (!isCat(y)) return;
  y.speak(); // use
  for (const one of all) {
    if (isDog(one)) one.speak();
    if (Guard.is(one) && one.speak()) continue; // use
    if (Boolean(one)) one.speak(); // use
    if (all.some((other) => other.speak())) continue; // use
  }
}
=== the properties of a component | Card.CardProps.title
--- Card.tsx
import React, { FC, forwardRef, memo } from "react";
interface CardProps { title: string; other: Other }
interface Other { title: string }
export const One: React.FC<CardProps> = ({ title, ...rest }) => <b>{title}{rest.title}</b>; // use
export const Two: FC<Other> = (props) => <b>{props.title}</b>;
export const Three: FC<CardProps> = (props) => {
  return <title title={props.title}>{props.other.title}</title>; // use
};
export const Four = forwardRef<HTMLElement, CardProps>(function Four({ title }, ref) { // use
  return <b ref={ref}>{title}</b>;
});
export const Five = React.memo<Other>(({ title }) => <b>{title}</b>);
const six = ({ other }: Pick<CardProps, "other">) => other.title;
=== what hooks and the like give | a.Store.save
--- a.ts
export class Store { save() {} }
export class Other { save() {} }
--- ctx.ts
import { createContext, useContext } from "react";
import { Store, Other } from "./a";
export const Ctx = createContext<Store | undefined>(undefined);
export const Others = createContext(new Other());
export const useStore = () => useContext(Ctx)!;
--- b.tsx
import React, { useContext, useMemo, useState } from "react";
import { inject } from "@angular/core";
import { Store, Other } from "./a";
import { Ctx, Others, useStore } from "./ctx";
export function A() {
  const [store, setStore] = useState<Store>(open());
  const [other] = useState(new Other());
  const ref = React.useRef<Store | null>(null);
  const memo = useMemo(() => new Store(), []);
  store.save(); // use
  other.save();
  ref.current?.save(); // use
  memo.save(); // inferred
  useContext(Ctx)?.save(); // use
  useContext(Others).save();
  useStore().save(); // inferred
  inject(Store).save(); // use
}
=== this in what a field is first set to | a.Api.get
--- a.ts
class Api { get() { return 1; } }
class Page {
  api = new Api();
  count = this.api.get(); // use
  later = debounce(() => this.api.get()); // use
  handlers = { load: () => this.api.get() }; // use
  static of = wrap(function () { return this.api.get(); });
}
const outside = { api: 1, load: () => this.api.get() };
=== what a module that is loaded when it is needed gives | page.Page
--- page.tsx
export const Page = () => null;
--- a.tsx
const One = lazy(() => import("./page").then((m) => ({ default: m.Page }))); // use
async function f() {
  (await import("./page")).Page; // use
}
const two = require("./page").Page; // use
=== what promises, maps and arrays give | a.Store.save
--- a.ts
class Store { save() {} }
class Other { save() {} }
async function load(id?: number): Promise<Store> { return new Store(); }
async function other(): Promise<Other> { return new Other(); }
async function f(map: Map<Other, Store>, by: Record<string, Store>, ids: number[], all: Store[]) {
  const [one, two] = await Promise.all([load(), other()]);
  one.save(); // use
  two.save();
  (await Promise.all(ids.map((id) => load(id)))).forEach((x) => x.save()); // inferred
  for (const [key, value] of map) value.save(); // use
  for (const [key, value] of map) key.save();
  [...map.values()].forEach((x) => x.save()); // use
  map.forEach((x) => x.save()); // use
  for (const [key, value] of Object.entries(by)) value.save(); // use
  Object.entries(by).map(([, value]) => value.save()); // use
  [...all].sort()[0].save(); // use
  ids.map((): Store => new Store()).filter(Boolean)[0].save(); // use
  Array.from(all, () => new Other()).map((x) => x.save());
  Array.from(all).map((x) => x.save()); // use
  new Set(all).forEach((x) => x.save()); // use
  (await Promise.race([load(), load()])).save(); // use
  const [a, b] = [new Store(), new Other()];
  a.save(); // use
  b.save();
  [new Other(), new Store()][1].save(); // use
  const [, /* the */ second, ...rest] = [new Store(), new Other()];
  second.save();
  [new Store(), new Store()].filter(Boolean).forEach((x) => x.save()); // use
}
=== what more hooks, signals and components give | a.State.count
--- a.ts
export interface State { count: number; name: string }
export interface Props { count: number }
export function reduce(state: State, action: string): State { return state; }
--- b.tsx
import React, { useCallback, useReducer } from "react";
import { computed, ref } from "vue";
import { signal } from "@angular/core";
import { reduce, State, Props } from "./a";
function A() {
  const [state, dispatch] = useReducer(reduce, open());
  const load = useCallback((): State => open(), []);
  return state.count + load().count; // use
}
const all = ref<State[]>([]);
all.value.map((one) => one.count); // use
computed((): State => all.value[0]).value.count; // use
signal<State>(open())().count; // use
class B extends React.Component<Props, State> {
  render() { return this.state.count; } // use
  hint() { return this.props.count; }
}
=== what a function gives whose type is written | a.Store.save
--- a.ts
class Store { save() {} }
class Other { save() {} }
type Make = <T>(id: T, ...rest: Other[]) => Store;
interface Api { load: (other: Other) => Promise<Store>; other(): Other }
class Pool<T> {
  constructor(private make: () => T) {}
  take(): T { return this.make(); }
}
async function f(make: Make, api: Api, done: (store: Store) => Other, pool: Pool<Store>) {
  make(1).save(); // use
  (await api.load(api.other())).save(); // use
  done(open()).save();
  pool.take().save(); // use
}
=== a field by its default, and what reduce with a type gives | a.Store.save
--- a.ts
class Store { save() {} id = 1; }
class Page {
  constructor(private readonly store = new Store(), public other?: Page) {}
  go() { this.other.save(); this.store.save(); } // use
}
const f = (all: Store[]) => all.reduce<Record<number, Store>>((by, x) => by[x.save()], {}); // use
=== a call that says its types | a.User.name
--- a.ts
export interface User { name: string }
interface Item { name: string }
class Api { async get<T, U = T>(url: string): Promise<T> { return open(url) as T; } }
function load<T>(url: string): T[] { return open(url); }
async function f(api: Api) {
  const { name } = await api.get<User>("/u"); // use
  (await api.get<Item>("/i")).name;
  load<User>("/u")[0].name; // use
  load<Item>("/i")[0].name;
  api.get<User>("/u").then((user) => user.name); // use
  const [first, ...rest] = load<User>("/u");
  rest[0].name; // use
  [...rest, first].map((one) => one.name); // use
}
=== a module that exports one thing | lib.Store
--- lib.ts
class Store {}
export = Store; // use
--- a.ts
import Store from "./lib"; // use
new Store(); // use
=== a module from the source root of the nearest package | apps/a/src/lib/util.ts:util
--- apps/a/package.json
{}
--- apps/b/package.json
{}
--- apps/a/src/lib/util.ts
export const util = 1;
--- apps/b/src/lib/util.ts
export const util = 2;
--- apps/a/x.ts
import { util } from "@/lib/util"; // use
import { util as same } from "~~/src/lib/util"; // use
import { util as svelte } from "$lib/util"; // use
import { util as other } from "$library/util";
util + same + svelte; // use
--- apps/b/x.ts
import { util } from "@/lib/util";
=== a package of the repository, by its exports | meter
--- packages/ui/package.json
{"name": "@a/ui", "exports": {".": {"import": "./dist/esm/index.mjs"}, "./*": "./dist/*.js"}}
--- packages/ui/src/index.ts
export function meter() {}
--- packages/app/b.ts
import { meter } from "@a/ui"; // use
meter(); // use
=== a part of a package of the repository | gauge
--- packages/ui/package.json
{"name": "@a/ui", "exports": {"./parts/*": [{"default": "./build/parts/*.js"}]}}
--- packages/ui/parts/gauges.ts
export function gauge() {}
--- packages/app/b.ts
import { gauge } from "@a/ui/parts/gauges"; // use
gauge(); // use
=== a private import of a package | hid
--- package.json
{"imports": {"#inner/*": "./lib/inner/*.js"}}
--- lib/inner/one.ts
export function hid() {}
--- b.ts
import { hid } from "#inner/one"; // use
hid(); // use
"""

MARKS = {"exact": "// use", "inferred": "// inferred"}


@pytest.mark.parametrize(("symbol", "files"), cases(CASES))
def test_exact_and_inferred_uses_are_the_marked_lines(repo, symbol, files):
    root = repo(files)
    expected = {confidence: marked(root, "*.*ts*", mark) for confidence, mark in MARKS.items()}
    assert sure_uses(root, symbol) == expected


def test_method_on_a_receiver_of_unknown_type_is_a_possible_use(built):
    root = built("--- a.ts\nclass A { save() {} }\nfunction f(x) { x.save(); }\n")
    found = tool_rag_where_used("A.save", root, with_possible=True)

    assert [(i.line, i.confidence) for i in found.items] == [(1, "exact"), (2, "possible")]


def test_file_with_a_syntax_error_is_searched_as_text(repo):
    root = repo("--- a.ts\nexport function ok() {}\n--- b.ts\nfunction {{{ ok(\n")
    report = build_graph_for_repo(root)

    assert report.unparsed == ("b.ts",)
    assert CodeGraph(root).where_used("ok").text_mentions == 1


def test_files_are_read_once_the_extra_is_installed(repo, monkeypatch):
    root = repo("--- a.ts\nexport function ok() {}\nok();\n")
    os.utime(root / "a.ts", (1, 1))
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "tree_sitter_typescript", None)
        assert build_graph_for_repo(root).nodes == 0
        assert build_graph_for_repo(root).read == 0

    assert build_graph_for_repo(root).nodes == 2
    assert build_graph_for_repo(root).read == 0


def test_method_of_an_interface_is_overridden_by_its_implementation(built):
    root = built(
        "--- a.ts\ninterface Named { name(): string }\n"
        "class A implements Named { name() { return 'a'; } }\n"
        "function f(one: Named) { return one.name(); }\n"
    )
    graph = CodeGraph(root)

    of_interface = {
        (use.line, use.kind, use.confidence) for use in graph.where_used("Named.name").items
    }
    of_class = {(use.line, use.kind, use.confidence) for use in graph.where_used("A.name").items}

    assert of_interface == {
        (1, "definition", "exact"),
        (3, "calls", "exact"),
        (2, "overrides", "dispatch"),
    }
    assert of_class == {(2, "definition", "exact"), (3, "calls", "dispatch")}


def test_typescript_tests_are_tests_and_not_callers(built):
    root = built(
        "--- sums.ts\nexport function add() {}\n"
        '--- sums.test.ts\nimport { add } from "./sums";\n'
        'describe("sums", () => {\n  it("adds", () => {\n    add();\n  });\n});\n'
        "--- app.ts\nimport { add } from './sums';\nfunction go() { add(); }\n"
    )
    found = CodeGraph(root).context("add").items

    assert [(item.kind, item.file, item.line) for item in found] == [
        ("definition", "sums.ts", 1),
        ("caller", "app.ts", 2),
        ("test", "sums.test.ts", 4),
    ]


def test_lineage_goes_through_constructors_and_functions_without_a_name(built):
    root = built(
        "--- a.ts\nexport function open() {}\nexport class Store { constructor() { open(); } }\n"
        "--- b.ts\nimport { Store } from './a';\n"
        "function each(ids: number[]) {\n  return ids.map((id) => new Store());\n}\n"
        "function all() { return each([]); }\n"
    )
    graph = CodeGraph(root)

    users = {item.symbol: item.line for item in graph.lineage("open", "down").items}
    assert users == {"a.Store.constructor": 2, "b.each.<function 3>": 3, "b.each": 3, "b.all": 5}
    assert "a.open" in {item.symbol for item in graph.lineage("all", "up").items}


#: Parts of source, which bars separate.
PARTS = (
    "import a from './b'|import a, { b }|from './b'|/* c */|export|class A|extends B|{|}|(|)|=>|f|"
    "x: T[]|=|new|.|,|;|static|async|é|`${a}`|enum E|\n"
)


@given(st.lists(st.sampled_from(PARTS.split("|")), max_size=30).map(" ".join))
def test_any_source_is_read_or_refused_as_a_syntax_error(source):
    try:
        facts = read_facts("typescript", source)
    except SyntaxError:
        return
    assert facts is not None
    assert all(0 <= one.scope < len(facts.scopes) for one in facts.occurrences)


def nested_source(opening: str, closing: str, inner: str = "a") -> str:
    return opening * 5000 + inner + closing * 5000


@pytest.mark.parametrize(
    "source",
    [
        "const x = " + nested_source("[", "]"),
        "const x = " + nested_source("f(", ")"),
        "let x: " + nested_source("Array<", ">"),
        "let " + nested_source("{a:{b:", "}}") + " = c",
        "const x = a" + ".b" * 5000,
        "if (a) {}" + " else if (a) {}" * 5000,
    ],
    ids=["brackets", "calls", "generics", "patterns", "members", "branches"],
)
def test_deeply_nested_file_is_searched_as_text_and_the_rest_is_built(repo, source):
    root = repo(f"--- deep.ts\n{source};\n--- b.ts\nexport function ok() {{}}\n")

    report = build_graph_for_repo(root)

    assert report.unparsed == ("deep.ts",)
    assert CodeGraph(root).search("ok", limit=1).items


def test_function_in_the_callee_of_a_test_is_one_definition(repo):
    root = repo("--- a.ts\nif (all.filter((x) => x.ok).includes(y)) {\n  y.go();\n}\n")
    assert build_graph_for_repo(root).nodes == 2


def test_type_parameters_may_have_a_variance(repo):
    root = repo("--- a.ts\nexport class Box<in T, out U = T> {}\nconst one = new Box();\n")

    assert not build_graph_for_repo(root).unparsed
    assert [use.line for use in CodeGraph(root).where_used("Box").items] == [1, 2]


def test_build_follows_changed_path_aliases(repo):
    root = repo(
        "--- tsconfig.json\n{}\n--- a/sums.ts\nexport function add() {}\n"
        '--- web/app.ts\nimport { add } from "#sums";\nadd();\n'
    )

    def uses(*paths: str) -> int:
        config = {"compilerOptions": {"paths": {"#sums": paths}}}
        (root / "tsconfig.json").write_text(json.dumps(config))
        build_graph_for_repo(root)
        return len(CodeGraph(root).where_used("a/sums.ts:add").items)

    assert uses("b/sums") == 1
    assert uses("b/sums", "a/sums") == 3
    (root / "b").mkdir()
    (root / "b/sums.ts").write_text("export function add() {}\n")
    assert uses("b/sums", "a/sums") == 1
    (root / "b/sums.ts").unlink()
    assert uses("b/sums", "a/sums") == 3
    (root / "tsconfig.json").write_text("[nonsense")
    assert build_graph_for_repo(root).linked == 2
