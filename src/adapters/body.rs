//! HTTP bodies that pass on unaltered, and are metered on their way.

use super::metered::Metered;
use crate::stream::Meter;
use crate::End;
use core::pin::Pin;
use core::task::{ready, Context, Poll};
use http_body::{Body, Frame, SizeHint};

/// For an HTTP body, as hyper, tower and axum pass it on.
pub trait DeltaBodyExt: Body<Data: AsRef<[u8]>> {
    /// The same body, whose bytes are metered as they pass. `report` is called once: [`Metered`] tells when. Trailers pass,
    /// too.
    fn metered<F: FnOnce(&Meter, &End)>(self, report: F) -> Metered<Self, F>
    where
        Self: Sized + Unpin,
    {
        let is_over = self.is_end_stream();
        let mut metered = Metered::new(self, report);
        if is_over {
            metered.finish();
        }
        metered
    }
}

impl<B: Body<Data: AsRef<[u8]>>> DeltaBodyExt for B {}

impl<B: DeltaBodyExt + Unpin, F: FnOnce(&Meter, &End)> Body for Metered<B, F> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.source).poll_frame(cx));
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        if let Some(data) = data {
            this.meter_bytes(data.as_ref());
        }
        // After its last frame nobody polls a body again. Trailers and errors are last, too.
        if data.is_none() || this.source.is_end_stream() {
            this.finish();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.source.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.source.size_hint()
    }
}
