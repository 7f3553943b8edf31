/* Prints the event log of a stream, or runs the cases of directories.
 *
 * log [--mode callbacks|batch|direct] [--read N] [--cap N] [--scratch N] [--pause] [--strict] FILE
 * log [the same options] --check DIR... */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int use(void)
{
    fprintf(stderr, "log [--mode callbacks|batch|direct] [--read N] [--cap N] [--scratch N] [--pause] [--strict] "
                    "FILE | --check DIR...\n");
    return 2;
}

static int check_dir(const how *options, const char *dir)
{
    cases all = {NULL, 0, 0};
    size_t i, wrong = 0;
    cases_load(&all, dir);
    for (i = 0; i < all.n; i++) {
        quirk_case *c = &all.list[i];
        how h = *options;
        logbook log;
        log_init(&log);
        h.config = c->config;
        h.config.events = options->config.events;
        if (c->storage != SIZE_MAX) h.grow = 0, h.event_bytes = c->storage;
        drive(&h, c->input.ptr, c->input.len, &log);
        if (!text_same(&log.lines, &c->log) || log.bad.len) {
            wrong++;
            printf("%s \"%s\"\n%s%s", c->row, c->name, log.lines.ptr ? log.lines.ptr : "", log.bad.len ? log.bad.ptr : "");
        }
        log_free(&log);
    }
    printf("%s: %lu of %lu cases of %lu files\n", dir, (unsigned long)(all.n - wrong), (unsigned long)all.n,
           (unsigned long)all.files);
    i = all.n;
    cases_free(&all);
    return wrong || !i;
}

int main(int argc, char **argv)
{
    how h = HOW_INIT;
    int i, check = 0, wrong = 0, done = 0;
    count_from_now();
    h.grow = 1;
    h.event_bytes = 512;
    h.config.events = DELTAWIRE_MASK(DELTAWIRE_EV_COUNT) - 1;
    for (i = 1; i < argc; i++) {
        const char *option = argv[i];
        if (!strcmp(option, "--pause")) h.pause = 1;
        else if (!strcmp(option, "--strict")) h.config.errors[0] = h.config.errors[1] = UINT64_MAX;
        else if (!strcmp(option, "--check")) check = 1;
        else if (!strcmp(option, "--mode") && i + 1 < argc) {
            const char *mode = argv[++i];
            if (!strcmp(mode, "batch")) h.batch = 1;
            else if (!strcmp(mode, "direct")) h.direct = 1448;
            else if (strcmp(mode, "callbacks") != 0) return use();
        } else if (!strncmp(option, "--", 2)) {
            size_t number = i + 1 < argc ? (size_t)strtoul(argv[++i], NULL, 10) : 0;
            if (!number) return use();
            if (!strcmp(option, "--read")) h.step = number;
            else if (!strcmp(option, "--cap")) h.cap = number;
            else if (!strcmp(option, "--scratch")) h.scratch = number;
            else return use();
        } else if (check) {
            wrong |= check_dir(&h, option);
            done++;
        } else {
            text input = TEXT_INIT;
            logbook log;
            log_init(&log);
            if (!text_of_file(&input, option)) die("the file cannot be read");
            drive(&h, input.ptr, input.len, &log);
            if (log.lines.len) fwrite(log.lines.ptr, 1, log.lines.len, stdout);
            if (log.bad.len) fwrite(log.bad.ptr, 1, log.bad.len, stderr);
            wrong |= log.bad.len != 0;
            log_free(&log);
            text_free(&input);
            done++;
        }
    }
    return done ? wrong : use();
}
