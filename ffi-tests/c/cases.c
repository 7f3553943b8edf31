#define _DEFAULT_SOURCE
#include "cases.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file_name;
static unsigned long line_number;

static void fault(const char *what)
{
    fprintf(stderr, "%s:%lu: %s\n", file_name, line_number, what);
    exit(1);
}

static char *copy(const char *s)
{
    char *c = need_memory(strlen(s) + 1);
    strcpy(c, s);
    return c;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **files_of(const char *dir, const char *suffix, size_t *n)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    char **names = NULL;
    size_t count = 0, end = strlen(suffix);
    if (!d) {
        fprintf(stderr, "%s cannot be read\n", dir);
        exit(1);
    }
    while ((entry = readdir(d))) {
        size_t len = strlen(entry->d_name);
        if (len <= end || strcmp(entry->d_name + len - end, suffix) != 0) continue;
        names = realloc(names, (count + 1) * sizeof *names);
        if (!names) die("out of memory");
        names[count] = need_memory(strlen(dir) + len + 2);
        sprintf(names[count++], "%s/%s", dir, entry->d_name);
    }
    closedir(d);
    if (count) qsort(names, count, sizeof *names, by_name);
    *n = count;
    return names;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    fault("a bad escape");
    return 0;
}

static void unescape(text *out, const char *s)
{
    for (; *s; s++) {
        char byte = *s;
        if (byte == '\\') {
            switch (*++s) {
            case 'n': byte = '\n'; break;
            case 'r': byte = '\r'; break;
            case 't': byte = '\t'; break;
            case '0': byte = 0; break;
            case '\\': byte = '\\'; break;
            case '"': byte = '"'; break;
            case 'x':
                if (!s[1]) fault("a bad escape");
                byte = (char)(hex(s[1]) << 4 | hex(s[2]));
                s += 2;
                break;
            default: fault("a bad escape");
            }
        }
        text_put(out, &byte, 1);
    }
}

static unsigned long number(const char *s)
{
    char *end;
    unsigned long n = strtoul(s, &end, 10);
    if (end == s || *end) fault("no number");
    return n;
}

static void set(quirk_case *c, const char *option)
{
    char *value = strchr(option, '=');
    if (!value) fault("expected `NAME=VALUE`");
    *value++ = 0;
    if (!strcmp(option, "mode") && !strcmp(value, "sse")) c->config.mode = DELTAWIRE_MODE_SSE;
    else if (!strcmp(option, "framing") && !strcmp(value, "spec")) c->config.flags |= DELTAWIRE_CFG_SPEC;
    else if (!strcmp(option, "snapshots") && !strcmp(value, "on")) c->config.flags |= DELTAWIRE_CFG_SNAPSHOTS;
    else if (!strcmp(option, "validate") && !strcmp(value, "strict")) c->config.flags |= DELTAWIRE_CFG_STRICT_JSON;
    else if (!strcmp(option, "max_event_len")) c->config.max_event_len = (uint32_t)number(value);
    else if (!strcmp(option, "max_id_len")) c->config.max_id_len = (uint32_t)number(value);
    else if (!strcmp(option, "max_depth")) c->config.max_depth = (uint32_t)number(value);
    else if (!strcmp(option, "storage")) c->storage = number(value);
    else fault("an option that is not known");
}

static quirk_case *add_case(cases *all, const char *path, const char *name)
{
    static const deltawire_config defaults = DELTAWIRE_CONFIG_INIT;
    const char *row = strrchr(path, '/') + 1;
    quirk_case *c;
    all->list = realloc(all->list, (all->n + 1) * sizeof *all->list);
    if (!all->list) die("out of memory");
    c = &all->list[all->n++];
    memset(c, 0, sizeof *c);
    sprintf(c->row, "%.*s", (int)(strcspn(row, ".") < 15 ? strcspn(row, ".") : 15), row);
    c->name = copy(name);
    c->config = defaults;
    c->storage = SIZE_MAX;
    text_put(&c->input, "", 0);
    return c;
}

static void load_file(cases *all, const char *path)
{
    text file = TEXT_INIT, bytes = TEXT_INIT;
    char *line, *next;
    quirk_case *c = NULL;
    int strict_told = 1;
    size_t before = all->n;
    file_name = path;
    line_number = 0;
    if (!text_of_file(&file, path)) fault("it cannot be read");
    for (line = file.ptr; *line; line = next) {
        char *rest;
        size_t len = strcspn(line, "\n");
        next = line + len + (line[len] == '\n');
        line[len] = 0;
        line_number++;
        if (!len || *line == '#') continue;
        rest = strchr(line, ' ');
        if (rest) *rest++ = 0;
        else rest = line + len;
        if (!strcmp(line, "case")) {
            if (!strict_told) fault("the case before has no `strict` line");
            strict_told = 0;
            c = add_case(all, path, rest);
        } else if (!c) {
            fault("expected `case`");
        } else if (!strcmp(line, "option")) {
            char *option;
            for (option = strtok(rest, " "); option; option = strtok(NULL, " ")) set(c, option);
        } else if (!strcmp(line, "reads")) {
            /* The library has the readers of all protocols. */
        } else if (!strcmp(line, "in")) {
            unescape(&c->input, rest);
        } else if (!strcmp(line, "repeat")) {
            char *what = strchr(rest, ' ');
            unsigned long times;
            if (!what) fault("`repeat TIMES BYTES`");
            *what++ = 0;
            text_clear(&bytes);
            unescape(&bytes, what);
            for (times = number(rest); times; times--) text_put(&c->input, bytes.ptr, bytes.len);
        } else if (!strcmp(line, "log")) {
            text_str(&c->log, rest);
            text_str(&c->log, "\n");
        } else if (!strcmp(line, "strict")) {
            strict_told = 1;
            if (strcmp(rest, "passes") != 0) c->strict = copy(rest);
        } else {
            fault("a word that is not known");
        }
    }
    if (!strict_told) fault("the last case has no `strict` line");
    if (all->n == before) fault("no case in it");
    text_free(&file);
    text_free(&bytes);
}

void cases_load(cases *all, const char *dir)
{
    size_t n, i;
    char **files = files_of(dir, ".case", &n);
    for (i = 0; i < n; i++) {
        load_file(all, files[i]);
        free(files[i]);
    }
    free(files);
}

void cases_free(cases *all)
{
    size_t i;
    for (i = 0; i < all->n; i++) {
        free(all->list[i].name);
        free(all->list[i].strict);
        text_free(&all->list[i].input);
        text_free(&all->list[i].log);
    }
    free(all->list);
    memset(all, 0, sizeof *all);
}
